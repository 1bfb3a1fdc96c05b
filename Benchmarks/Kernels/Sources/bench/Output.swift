#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Prints a line now: the driver waits for it.
func reply(_ text: String) {
  print(text)
  fflush(nil)
}

/// A number with four decimals.
func fixed(_ value: Double) -> String {
  let parts = Int((value * 10000).rounded())
  let fraction = String(parts % 10000)
  return "\(parts / 10000)." + String(repeating: "0", count: 4 - fraction.count) + fraction
}
