#ifndef SIDELIGHT_LIBFUZZER_H
#define SIDELIGHT_LIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

// A function of libFuzzer, in the compiler's runtime.
int LLVMFuzzerRunDriver(int *argc, char ***argv,
                        int (*callback)(const uint8_t *data, size_t size));

#endif
