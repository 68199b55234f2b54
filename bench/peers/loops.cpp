// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels are compared with: plain loops. Sizes are numbers of elements.
#include <algorithm>
#include <cmath>
#include <cstring>

extern "C" {

/// For what a call from Python costs.
void empty(float *, float *, float *, long, long) {}

void copy(const float *x, float *out, long n) { std::memcpy(out, x, n * sizeof(float)); }

void add(const float *x, const float *y, float *out, long n) {
  for (long i = 0; i < n; ++i)
    out[i] = x[i] + y[i];
}

void masked(const float *x, const float *y, float *out, long n) {
  for (long i = 0; i < n; ++i)
    if (y[i] > 0)
      out[i] = x[i];
}

void strided(const float *x, float *out, long n) {
  for (long i = 0; i < n; ++i)
    out[i] = x[2 * i];
}

void gather(const float *x, const int *index, float *out, long n) {
  for (long i = 0; i < n; ++i)
    out[i] = x[index[i]];
}

/// n x n, in blocks that fit the first cache.
void transpose(const float *x, float *out, long n) {
  const long block = 32;
  for (long i = 0; i < n; i += block)
    for (long j = 0; j < n; j += block)
      for (long r = i; r < std::min(i + block, n); ++r)
        for (long c = j; c < std::min(j + block, n); ++c)
          out[c * n + r] = x[r * n + c];
}

void softmax(const float *x, float *out, long rows, long n) {
  for (long r = 0; r < rows; ++r, x += n, out += n) {
    float top = x[0], sum = 0;
    for (long i = 0; i < n; ++i)
      top = std::max(top, x[i]);
    for (long i = 0; i < n; ++i)
      sum += out[i] = std::exp(x[i] - top);
    float scale = 1 / sum;
    for (long i = 0; i < n; ++i)
      out[i] *= scale;
  }
}

void layer_norm(const float *x, const float *w, const float *b, float *out, long rows, long n) {
  for (long r = 0; r < rows; ++r, x += n, out += n) {
    float sum = 0, squares = 0;
    for (long i = 0; i < n; ++i)
      sum += x[i];
    float mean = sum / n;
    for (long i = 0; i < n; ++i)
      squares += (x[i] - mean) * (x[i] - mean);
    float scale = 1 / std::sqrt(squares / n + 1e-5f);
    for (long i = 0; i < n; ++i)
      out[i] = (x[i] - mean) * scale * w[i] + b[i];
  }
}

void rms_norm(const float *x, const float *w, float *out, long rows, long n) {
  for (long r = 0; r < rows; ++r, x += n, out += n) {
    float squares = 0;
    for (long i = 0; i < n; ++i)
      squares += x[i] * x[i];
    float scale = 1 / std::sqrt(squares / n + 1e-5f);
    for (long i = 0; i < n; ++i)
      out[i] = x[i] * scale * w[i];
  }
}

void row_sum(const float *x, float *out, long rows, long n) {
  for (long r = 0; r < rows; ++r, x += n) {
    float sum = 0;
    for (long i = 0; i < n; ++i)
      sum += x[i];
    out[r] = sum;
  }
}

void row_argmax(const float *x, int *out, long rows, long n) {
  for (long r = 0; r < rows; ++r, x += n) {
    float top = x[0];
    for (long i = 0; i < n; ++i)
      top = std::max(top, x[i]);
    long at = 0;
    while (x[at] != top)
      ++at;
    out[r] = int(at);
  }
}

void row_cumsum(const float *x, float *out, long rows, long n) {
  for (long r = 0; r < rows; ++r, x += n, out += n) {
    float sum = 0;
    for (long i = 0; i < n; ++i)
      out[i] = sum += x[i];
  }
}

void row_sort(const float *x, float *out, long rows, long n) {
  for (long r = 0; r < rows; ++r, x += n, out += n) {
    std::memcpy(out, x, n * sizeof(float));
    std::sort(out, out + n);
  }
}

/// Rows of scores, causal: scaled, cut behind the row's own column, soft-maxed in place.
void causal_softmax(float *scores, float scale, long n) {
  for (long r = 0; r < n; ++r, scores += n) {
    float top = scores[0], sum = 0;
    for (long i = 0; i <= r; ++i)
      top = std::max(top, scores[i]);
    for (long i = 0; i <= r; ++i)
      sum += scores[i] = std::exp((scores[i] - top) * scale);
    float share = 1 / sum;
    for (long i = 0; i <= r; ++i)
      scores[i] *= share;
    std::memset(scores + r + 1, 0, (n - r - 1) * sizeof(float));
  }
}

} // extern "C"
