// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sanitizer.h - Tells sanitizers about fibers ------------------------===//
#ifndef NEREID_RUNTIME_BASE_SANITIZER_H
#define NEREID_RUNTIME_BASE_SANITIZER_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NEREID_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define NEREID_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(NEREID_ASAN)
#define NEREID_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(NEREID_TSAN)
#define NEREID_TSAN 1
#endif

#if defined(NEREID_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(NEREID_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#endif // NEREID_RUNTIME_BASE_SANITIZER_H
