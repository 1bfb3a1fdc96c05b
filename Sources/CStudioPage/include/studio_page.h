#ifndef SIDELIGHT_STUDIO_PAGE_H
#define SIDELIGHT_STUDIO_PAGE_H

#include <stddef.h>

/// A file of the studio's page, embedded in the binary.
struct studio_file {
  /// The path below Sources/Studio/Page, with slashes.
  const char *path;
  /// The content.
  const unsigned char *bytes;
  /// The number of bytes.
  size_t count;
};

/// Returns the files of the page, in the order of their paths.
const struct studio_file *studio_files(void);

/// Returns the number of files.
size_t studio_file_count(void);

#endif
