#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Functions of the mathematical library in double precision, for the definitions of operations.
enum KernelMath {
  static func power2(_ x: Double) -> Double { exp2(x) }
  static func logarithm2(_ x: Double) -> Double { log2(x) }
  static func sine(_ x: Double) -> Double { sin(x) }
  static func cosine(_ x: Double) -> Double { cos(x) }
  static func angle(_ y: Double, _ x: Double) -> Double { atan2(y, x) }
  static func power(_ x: Double, _ y: Double) -> Double { pow(x, y) }
}
