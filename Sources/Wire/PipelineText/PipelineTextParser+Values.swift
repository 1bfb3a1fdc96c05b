import SidelightKernels

extension PipelineTextParser {
  /// Reads a parameter's value.
  mutating func parseValue() throws(PipelineTextError) -> ParameterValue {
    switch self.cursor.current {
    case UInt8(ascii: "("):
      let lengths = try self.parseLengths(in: "(" ... ")", count: 2)
      return .point(Point(x: lengths[0].length, y: lengths[1].length))
    case UInt8(ascii: "["):
      return .vector(try self.parseNumbers(in: "[" ... "]", 0 ... Int.max))
    case UInt8(ascii: "#"):
      return .color(try self.parseHexColor())
    default:
      break
    }
    if let text = try self.cursor.takeQuoted() { return .text(text) }
    if let word = self.cursor.takeWord() {
      switch word {
      case "true": return .flag(true)
      case "false": return .flag(false)
      case "nan": return .number(.nan)
      case "color" where self.cursor.current == UInt8(ascii: "("):
        let channels = try self.parseNumbers(in: "(" ... ")", 3 ... 4)
        return .color(
          Color(
            red: channels[0], green: channels[1], blue: channels[2],
            alpha: channels.count == 4 ? channels[3] : 1))
      default: return .text(word)
      }
    }
    guard let number = try self.parseNumber() else {
      throw self.cursor.fault("expected a value, found \(self.cursor.found)")
    }
    guard let unit = try self.parseUnit() else { return .number(number) }
    return .length(Length(number, unit))
  }

  /// Reads a list of numbers between two brackets.
  mutating func parseNumbers(
    in brackets: ClosedRange<Unicode.Scalar>, _ counts: ClosedRange<Int>
  ) throws(PipelineTextError) -> [Double] {
    try self.parseList(in: brackets, counts) { parser throws(PipelineTextError) in
      let start = parser.cursor.offset
      if parser.cursor.takeWord() == "nan" { return Double.nan }
      parser.cursor.rewind(to: start)
      guard let number = try parser.parseNumber() else {
        throw parser.cursor.fault("expected a number, found \(parser.cursor.found)")
      }
      return number
    }
  }

  /// Reads a list of lengths between two brackets, and where each starts; bare numbers are pixels.
  mutating func parseLengths(
    in brackets: ClosedRange<Unicode.Scalar>, count: Int
  ) throws(PipelineTextError) -> [(length: Length, start: Int)] {
    try self.parseList(in: brackets, count ... count) { parser throws(PipelineTextError) in
      let start = parser.cursor.offset
      guard let number = try parser.parseNumber() else {
        throw parser.cursor.fault("expected a length, found \(parser.cursor.found)")
      }
      return (Length(number, try parser.parseUnit() ?? .pixels), start)
    }
  }

  private mutating func parseList<Element>(
    in brackets: ClosedRange<Unicode.Scalar>, _ counts: ClosedRange<Int>,
    _ parse: (inout Self) throws(PipelineTextError) -> Element
  ) throws(PipelineTextError) -> [Element] {
    var elements: [Element] = []
    guard self.cursor.take(brackets.lowerBound) else {
      throw self.cursor.fault("expected '\(brackets.lowerBound)', found \(self.cursor.found)")
    }
    if counts.contains(0), self.cursor.take(brackets.upperBound) { return elements }
    repeat {
      self.cursor.skipSpace()
      guard elements.count < counts.upperBound else {
        throw self.cursor.fault("expected '\(brackets.upperBound)' after \(elements.count) numbers")
      }
      elements.append(try parse(&self))
    } while self.cursor.take(",")
    guard elements.count >= counts.lowerBound else {
      throw self.cursor.fault("expected ',' and another number, found \(self.cursor.found)")
    }
    guard self.cursor.take(brackets.upperBound) else {
      throw self.cursor.fault(
        "expected \(elements.count < counts.upperBound ? "',' or " : "")"
          + "'\(brackets.upperBound)', found \(self.cursor.found)")
    }
    return elements
  }

  /// Reads a number without its unit; `nil` if none starts here. What is beyond a double's range is
  /// infinite, which is for the catalogue to refuse.
  private mutating func parseNumber() throws(PipelineTextError) -> Double? {
    let start = self.cursor.offset
    guard let first = self.cursor.current, Self.isDigit(first) || "+-.".utf8.contains(first) else {
      return nil
    }
    var digits = self.cursor.take { "+-".utf8.contains($0) }
    digits += self.cursor.take { Self.isDigit($0) || $0 == UInt8(ascii: ".") }
    // `1e3` has an exponent. Anything else that starts with an e is an unknown unit.
    let beforeExponent = self.cursor.offset
    if let letter = self.cursor.current, "eE".utf8.contains(letter) {
      let sign =
        self.cursor.take { "eE".utf8.contains($0) } + self.cursor.take { "+-".utf8.contains($0) }
      let exponent = self.cursor.take(while: Self.isDigit)
      if exponent.isEmpty {
        self.cursor.rewind(to: beforeExponent)
      } else {
        digits += sign + exponent
      }
    }
    guard let number = Double(digits) else {
      throw self.cursor.fault("'\(digits.clipped(toBytes: 40))' is not a number", at: start)
    }
    return number
  }

  /// Reads the unit of a length; `nil` if none follows at once.
  private mutating func parseUnit() throws(PipelineTextError) -> Length.Unit? {
    let start = self.cursor.offset
    switch self.cursor.takeWord() {
    case nil: return nil
    case "px": return .pixels
    case "w": return .width
    case "h": return .height
    case "min": return .shortSide
    case let word?:
      throw self.cursor.fault(
        "expected one of the units px, w, h, min, found '\(word.clipped(toBytes: 40))'", at: start)
    }
  }

  private mutating func parseHexColor() throws(PipelineTextError) -> Color {
    let start = self.cursor.offset
    _ = self.cursor.take("#")
    let digits = self.cursor.take { Character(Unicode.Scalar($0)).isHexDigit }
    guard digits.utf8.count == 6 || digits.utf8.count == 8, let value = UInt32(digits, radix: 16)
    else {
      throw self.cursor.fault("expected a colour: # and 6 or 8 hexadecimal digits", at: start)
    }
    let rgba = digits.utf8.count == 6 ? value << 8 | 0xFF : value
    func channel(_ shift: UInt32) -> Double { Double(rgba >> shift & 0xFF) / 255 }
    return Color(red: channel(24), green: channel(16), blue: channel(8), alpha: channel(0))
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0") ... UInt8(ascii: "9")).contains(byte)
  }
}
