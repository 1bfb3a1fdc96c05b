#ifndef SIDELIGHT_KERNEL_CATALOGUE_H
#define SIDELIGHT_KERNEL_CATALOGUE_H

#include <stddef.h>

/// A file of Sources/KernelLanguage/Catalogue, embedded in the binary.
struct kernel_file {
  /// The name of the file, without its extension.
  const char *name;
  /// The content.
  const unsigned char *bytes;
  /// The number of bytes.
  size_t count;
};

/// Returns the files, in the order of their names.
const struct kernel_file *kernel_files(void);

/// Returns the number of files.
size_t kernel_file_count(void);

#endif
