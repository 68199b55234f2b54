// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_PYTHON_SMALLBUFFER_H
#define NEREID_PYTHON_SMALLBUFFER_H

#include <cstddef>
#include <cstring>
#include <memory>

namespace nereid::python {

/// A growing array whose first elements need no allocation.
template <typename T, size_t InlineCapacity> class SmallBuffer {
public:
  SmallBuffer() = default;
  SmallBuffer(const SmallBuffer &) = delete;
  SmallBuffer &operator=(const SmallBuffer &) = delete;

  T *data() { return elements; }
  const T *data() const { return elements; }
  size_t size() const { return count; }
  T &operator[](size_t i) { return elements[i]; }
  const T &operator[](size_t i) const { return elements[i]; }
  void push_back(T value) {
    reserve(1);
    elements[count++] = value;
  }
  void append(const T *values, size_t n) {
    reserve(n);
    std::memcpy(elements + count, values, n * sizeof(T));
    count += n;
  }
  void resize(size_t n) {
    if (n > count)
      reserve(n - count);
    count = n;
  }

private:
  void reserve(size_t more) {
    if (count + more <= capacity)
      return;
    capacity = 2 * (count + more);
    auto bigger = std::make_unique<T[]>(capacity);
    std::memcpy(bigger.get(), elements, count * sizeof(T));
    heap = std::move(bigger);
    elements = heap.get();
  }
  T inlineElements[InlineCapacity];
  T *elements = inlineElements;
  size_t count = 0, capacity = InlineCapacity;
  std::unique_ptr<T[]> heap;
};

} // namespace nereid::python

#endif // NEREID_PYTHON_SMALLBUFFER_H
