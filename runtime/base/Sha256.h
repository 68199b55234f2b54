// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sha256.h - Proof that two sides know the same secret ---------------===//
#ifndef NEREID_RUNTIME_BASE_SHA256_H
#define NEREID_RUNTIME_BASE_SHA256_H

#include <array>
#include <cstdint>
#include <string_view>

namespace nereid::runtime {

using Digest = std::array<uint8_t, 32>;

/// SHA-256 of FIPS 180-4.
Digest sha256(std::string_view text);
/// HMAC-SHA-256 of RFC 2104.
Digest keyedHash(std::string_view key, std::string_view text);
/// Takes the same time wherever they differ.
bool isSame(const Digest &a, const Digest &b);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_BASE_SHA256_H
