// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that end by what they read.
extern "C" {

void search(const int *sorted, const int *keys, int *places, long n, long queries) {
  for (long q = 0; q < queries; ++q) {
    int low = 0, high = int(n), key = keys[q];
    while (low < high) {
      int middle = (low + high) / 2;
      if (sorted[middle] < key)
        low = middle + 1;
      else
        high = middle;
    }
    places[q] = low;
  }
}

void walk(const int *next, const int *starts, int *lengths, long, long queries) {
  for (long q = 0; q < queries; ++q) {
    int length = 0;
    for (int at = starts[q]; at >= 0; at = next[at])
      ++length;
    lengths[q] = length;
  }
}

void length(const int *text, const int *starts, int *lengths, long, long queries) {
  for (long q = 0; q < queries; ++q) {
    int i = starts[q];
    while (text[i] != 0)
      ++i;
    lengths[q] = i - starts[q];
  }
}

} // extern "C"
