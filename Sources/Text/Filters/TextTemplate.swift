package import SidelightKernels

/// A text with fields that are replaced in every frame.
///
/// `{capture_time}`, `{capture_time:%H:%M:%S}`, `{sequence}`, `{sequence:6}`, `{label}`,
/// `{participant}` and `{tag:KEY}` are fields; `{{` and `}}` are braces. Text of the frame comes
/// from participants, and is isolated: it cannot change the direction of the text around it or
/// begin a line.
package struct TextTemplate: Sendable, Hashable {
  /// A template that cannot be read.
  package struct Invalid: Error, Sendable, Hashable {
    /// The error as a clause, with its position.
    package let reason: String
    /// The name of a field that is near; `nil` without a suggestion.
    package let suggestion: String?
  }

  /// A part of a template.
  enum Part: Sendable, Hashable {
    case literal(String)
    case captureTime(TimeFormat)
    /// Padded with leading zeros to that many digits.
    case sequence(digits: Int)
    case label
    case participant
    case tag(String)
  }

  /// The maximum number of Unicode scalars of a text after its fields are replaced. Further scalars
  /// are left out.
  package static let maxScalars = 512

  private static let fields = ["capture_time", "label", "participant", "sequence", "tag"]

  let parts: [Part]

  /// Reads a template.
  ///
  /// - Throws: ``Invalid`` for an unknown field, a field with wrong settings, or a single brace.
  package init(_ text: String) throws(Invalid) {
    var parts: [Part] = []
    var literal = ""
    var position = 1
    var characters = text.unicodeScalars[...]
    func invalid(_ reason: String, suggestion: String? = nil) -> Invalid {
      Invalid(reason: "\(reason) at character \(position)", suggestion: suggestion)
    }
    while let character = characters.popFirst() {
      switch character {
      case "{" where characters.first == "{", "}" where characters.first == "}":
        characters.removeFirst()
        literal.unicodeScalars.append(character)
        position += 2
      case "}": throw invalid("has a \"}\" without \"{\"; a brace is written \"}}\"")
      case "{":
        guard let end = characters.firstIndex(of: "}") else {
          throw invalid("has a \"{\" without \"}\"; a brace is written \"{{\"")
        }
        let field = String(characters[..<end])
        if !literal.isEmpty { parts.append(.literal(literal)) }
        literal = ""
        do {
          parts.append(try Self.part(field))
        } catch {
          throw invalid(error.reason, suggestion: error.suggestion)
        }
        characters = characters[end...].dropFirst()
        position += field.unicodeScalars.count + 2
      default:
        literal.unicodeScalars.append(character)
        position += 1
      }
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
    self.parts = parts
  }

  private static func part(_ field: String) throws(Invalid) -> Part {
    let pieces = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(pieces.first ?? "")
    let setting = pieces.count > 1 ? String(pieces[1]) : nil
    switch (name, setting) {
    case ("capture_time", _):
      do {
        return .captureTime(try TimeFormat(setting ?? "%Y-%m-%d %H:%M:%S"))
      } catch {
        throw Invalid(reason: error.reason, suggestion: nil)
      }
    case ("sequence", nil): return .sequence(digits: 1)
    case ("sequence", let digits?):
      guard let count = Int(digits), (1 ... 20).contains(count) else {
        throw Invalid(
          reason: "has {sequence:\(digits.clipped(toBytes: 32))}, whose number of digits must be "
            + "1 to 20", suggestion: nil)
      }
      return .sequence(digits: count)
    case ("label", nil): return .label
    case ("participant", nil): return .participant
    case ("tag", let key?) where !key.isEmpty: return .tag(key)
    case ("tag", _): throw Invalid(reason: "has {tag} without a key: {tag:KEY}", suggestion: nil)
    case ("label", _), ("participant", _):
      throw Invalid(reason: "has settings in {\(name)}, which takes none", suggestion: nil)
    default:
      throw Invalid(
        reason: "has an unknown field {\(name.clipped(toBytes: 32))}; the fields are "
          + Self.fields.joined(separator: ", "),
        suggestion: Spelling.nearest(to: name, among: Self.fields))
    }
  }

  /// The frequency with which the text of a stream changes.
  package enum Change: Int, Sendable, Comparable {
    case never
    /// Now and then: every second, or with the stream.
    case sometimes
    /// With every frame.
    case eachFrame

    package static func < (left: Change, right: Change) -> Bool { left.rawValue < right.rawValue }
  }

  /// The frequency with which the text changes.
  package var change: Change {
    self.parts.map { part in
      switch part {
      case .literal: Change.never
      case .captureTime(let format): format.hasFractions ? .eachFrame : .sometimes
      case .sequence: .eachFrame
      case .label, .participant, .tag: .sometimes
      }
    }.max() ?? .never
  }

  /// Whether the text has numbers that change, and should have digits of equal width.
  package var hasChangingNumbers: Bool {
    self.parts.contains { part in
      switch part {
      case .captureTime, .sequence: true
      case .literal, .label, .participant, .tag: false
      }
    }
  }

  /// Returns the text of a frame.
  ///
  /// - Parameter utcOffset: The clock's offset from UTC in seconds.
  package func text(of details: FrameDetails, utcOffset: Int) -> String {
    var text = ""
    for part in self.parts {
      switch part {
      case .literal(let literal): text += literal
      case .captureTime(let format):
        text += format.text(
          CivilTime(nanoseconds: details.captureNanoseconds, utcOffset: utcOffset))
      case .sequence(let digits):
        let number = String(details.sequence)
        text += String(repeating: "0", count: max(0, digits - number.count)) + number
      case .label: text += Self.isolated(details.label)
      case .participant: text += Self.isolated(details.participant)
      case .tag(let key): text += Self.isolated(details.tags[key] ?? "")
      }
    }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.maxScalars)))
  }

  /// Returns a text between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE, with spaces for line
  /// breaks and control characters, and without controls of the direction.
  private static func isolated(_ text: String) -> String {
    guard !text.isEmpty else { return "" }
    var scalars = String.UnicodeScalarView()
    scalars.append("\u{2068}")
    for scalar in text.unicodeScalars.prefix(Self.maxScalars) {
      switch scalar.value {
      case 0 ..< 0x20, 0x7F ..< 0xA0, 0x2028, 0x2029: scalars.append(" ")
      case 0x061C, 0x200E, 0x200F, 0x202A ... 0x202E, 0x2066 ... 0x2069: break
      default: scalars.append(scalar)
      }
    }
    scalars.append("\u{2069}")
    return String(scalars)
  }
}
