/// Units of sizes in bytes.
enum ByteUnit: Int, CaseIterable {
  case gibibyte = 1_073_741_824
  case mebibyte = 1_048_576
  case kibibyte = 1024

  var name: String {
    switch self {
    case .gibibyte: "GiB"
    case .mebibyte: "MiB"
    case .kibibyte: "KiB"
    }
  }

  /// Parses a number with or without a unit. `nil` if it is invalid or overflows.
  static func parse(_ text: String, plain: Int) -> Int? {
    let unit = Self.allCases.first { text.hasSuffix($0.name) }
    let number = text.dropLast(unit?.name.count ?? 0)
    guard let count = Int(number.last == " " ? number.dropLast() : number) else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit?.rawValue ?? plain)
    return overflow ? nil : bytes
  }

  /// Returns the number in the largest unit of which it is a multiple.
  static func text(of bytes: Int, plain: Int = 1) -> String {
    guard bytes != 0, let unit = Self.allCases.first(where: { bytes.isMultiple(of: $0.rawValue) })
    else { return "\(bytes / plain)" }
    return "\(bytes / unit.rawValue)\(unit.name)"
  }
}
