/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tables of abi/ as a C program reads them. */
#include "nereid/abi.h"

#include <stdio.h>
#include <string.h>

struct row {
  const char *name, *signature;
};
static const struct row entries[] = {
#define NRD_ENTRY(NAME, SIGNATURE) {#NAME, SIGNATURE},
#include "nereid/entry_points.def"
};
static const struct row functions[] = {
#define NRD_MATH(NAME, SIGNATURE) {#NAME, SIGNATURE},
#define NRD_MATH_TYPED(NAME, SIGNATURE) {#NAME, SIGNATURE},
#include "nereid/device_math.def"
};

static int check(const struct row *rows, size_t count, const char *letters) {
  int bad = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strspn(rows[i].signature, letters) != strlen(rows[i].signature)) {
      fprintf(stderr, "%s: unknown letter in \"%s\"\n", rows[i].name, rows[i].signature);
      bad = 1;
    }
    for (size_t k = 0; k < i; ++k)
      if (strcmp(rows[i].name, rows[k].name) == 0) {
        fprintf(stderr, "%s: two rows\n", rows[i].name);
        bad = 1;
      }
  }
  return bad;
}

int main(void) {
  return check(entries, sizeof(entries) / sizeof(entries[0]), "vpil") |
         check(functions, sizeof(functions) / sizeof(functions[0]), "FTsdil");
}
