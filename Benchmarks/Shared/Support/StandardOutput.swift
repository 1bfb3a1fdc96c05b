#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Lines for the driver, a script that reads them as they are printed.
package enum StandardOutput {
  /// Prints a line and flushes it.
  package static func printLine(_ line: String) {
    print(line)
    fflush(nil)
  }
}
