import SidelightKernels
import SidelightWire

/// A filter that a process offers.
struct FilterOffer: Sendable, Hashable {
  /// The kind of result.
  enum Result: Sendable, Hashable {
    /// The input, changed in place.
    case input
    /// A new picture.
    case picture(PictureSize)
    /// Values of every nth frame.
    case analysis(everyNth: Int)
    /// The person's part of every pixel of a reduced picture.
    case matte(PictureSize)
    /// The faces in a reduced picture.
    case faces

    /// Whether pipelines name it as a filter.
    var isFilter: Bool {
      switch self {
      case .input, .picture, .analysis: true
      case .matte, .faces: false
      }
    }
  }

  /// The size of a new picture.
  struct PictureSize: Sendable, Hashable {
    /// The width and the height; `nil` scales the input's.
    let width: Int?
    let height: Int?
    let scale: Double

    func size(for input: FrameSize) -> FrameSize {
      func scaled(_ length: Int) -> Int {
        let length = (Double(length) * self.scale).rounded()
        return min(max(Int(length), 1), FrameLayout.maxDimension)
      }
      return FrameSize(
        width: self.width ?? scaled(input.width), height: self.height ?? scaled(input.height))
    }
  }

  let description: FilterDescription
  /// The format of input and output.
  let format: PixelFormat
  let result: Result
  /// Whether frames depend on earlier frames.
  let isStateful: Bool
  /// Whether the process writes all samples of new pictures and mattes.
  let fillsOutput: Bool
  /// Whether a new picture shows everything where the input shows it.
  let keepsPositions: Bool

  var name: String { self.description.name }

  private static let formats: [PixelFormat] = [.bgra8, .rgb24, .gray8, .i420, .nv12]

  /// - Throws: ``FilterProcessError`` that names the filter and the field.
  init(_ wire: Sidelight_V1_FilterOffer) throws(FilterProcessError) {
    let filter = wire.filter
    func invalid(_ message: String) -> FilterProcessError {
      FilterProcessError("the filter '\(filter.name)': \(message)")
    }
    guard filter.name.isIdentifier else {
      throw invalid("the name must begin with a small letter, and have letters and digits only")
    }
    guard (1 ... 200).contains(filter.summary.utf8.count), !filter.summary.contains("\n") else {
      throw invalid("the summary must have 1 to 200 bytes in one line")
    }
    guard let format = PixelFormat(wire.format), Self.formats.contains(format) else {
      throw invalid(
        "format must be one of " + Self.formats.map(\.rawValue).joined(separator: ", "))
    }
    self.format = format
    let category: FilterDescription.Category
    switch wire.kind {
    case .analysis:
      guard !wire.hasOutput else { throw invalid("an analysis has no output") }
      self.result = .analysis(everyNth: max(1, Int(wire.everyNth)))
      category = .analysis
    case .matte:
      let size =
        wire.hasOutput
        ? try PictureSize(wire.output, invalid) : PictureSize(width: nil, height: nil, scale: 1)
      guard size.isForMattes else { throw invalid("a matte has at most 1024x1024 samples") }
      self.result = .matte(size)
      category = .compositing
    case .faces:
      guard !wire.hasOutput else { throw invalid("a face finder has no output") }
      self.result = .faces
      category = .analysis
    case .unspecified, .picture:
      self.result = wire.hasOutput ? .picture(try PictureSize(wire.output, invalid)) : .input
      let name = filter.category.isEmpty ? "custom" : filter.category
      guard let known = FilterDescription.Category(rawValue: name), known != .analysis else {
        throw invalid("there is no category '\(filter.category)' of picture filters")
      }
      category = known
    case .UNRECOGNIZED(let value): throw invalid("kind \(value) is not known")
    }
    self.isStateful = wire.isStateful
    self.fillsOutput = wire.fillsOutput
    self.keepsPositions = wire.keepsPositions
    guard self.result.isFilter || filter.parameters.isEmpty else {
      throw invalid("mattes and face finders have no parameters")
    }
    guard filter.parameters.count <= 64 else {
      throw invalid("it has \(filter.parameters.count) parameters; the limit is 64")
    }
    var parameters: [ParameterDescription] = []
    for parameter in filter.parameters {
      guard !parameters.contains(where: { $0.name == parameter.name }) else {
        throw invalid("two parameters are named '\(parameter.name)'")
      }
      do throws(FilterProcessError) {
        parameters.append(try ParameterDescription(parameter))
      } catch {
        throw invalid("the parameter '\(parameter.name)': \(error)")
      }
    }
    var description = FilterDescription(
      name: filter.name, summary: filter.summary, category: category, reach: .frame,
      fidelity: .custom, keywords: filter.keywords,
      formula: filter.formula.isEmpty ? "A filter of a filter process" : filter.formula,
      parameters: parameters)
    description.isRemote = true
    self.description = description
  }
}

extension FilterOffer.PictureSize {
  /// Whether the sizes for reduced pictures are in the limit of mattes.
  fileprivate var isForMattes: Bool {
    [(320, 180), (180, 320)].allSatisfy { width, height in
      let size = self.size(for: FrameSize(width: width, height: height))
      return max(size.width, size.height) <= 1024
    }
  }

  fileprivate init(
    _ wire: Sidelight_V1_OutputSize, _ invalid: (String) -> FilterProcessError
  ) throws(FilterProcessError) {
    let limit = FrameLayout.maxDimension
    guard wire.width <= limit, wire.height <= limit else {
      throw invalid("the output is \(wire.width)x\(wire.height); the limit is \(limit)x\(limit)")
    }
    let scale = wire.scale == 0 ? 1 : wire.scale
    guard (0.0625 ... 16).contains(scale) else {
      throw invalid("output.scale is \(scale); it must be 1/16 to 16")
    }
    self.init(
      width: wire.width == 0 ? nil : Int(wire.width),
      height: wire.height == 0 ? nil : Int(wire.height), scale: scale)
  }
}

extension ParameterDescription {
  /// - Throws: ``FilterProcessError`` with the error, without the parameter's name.
  fileprivate init(
    _ wire: Sidelight_V1_ParameterDescription
  ) throws(FilterProcessError) {
    guard wire.name.isIdentifier else {
      throw FilterProcessError(
        "the name must begin with a small letter, and have letters and digits only")
    }
    let kind: Kind
    switch wire.kind {
    case .number: kind = .number
    case .length: kind = .length
    case .point: kind = .point
    case .color: kind = .color
    case .flag: kind = .flag
    case .text: kind = .text
    case .vector:
      guard (1 ... 1024).contains(wire.vectorLength) else {
        throw FilterProcessError("vector_length is \(wire.vectorLength); it must be 1 to 1024")
      }
      kind = .vector(count: Int(wire.vectorLength))
    case .choice:
      guard !wire.choices.isEmpty else { throw FilterProcessError("a choice needs choices") }
      kind = .choice(wire.choices)
    case .asset, .unspecified, .UNRECOGNIZED:
      throw FilterProcessError("values of kind \(wire.kind) are not supported")
    }
    let unit: Unit =
      switch wire.unit {
      case .unspecified, .UNRECOGNIZED: .none
      case .pixels: .pixels
      case .radians: .radians
      case .kelvin: .kelvin
      case .stops: .stops
      }
    func range(_ range: Sidelight_V1_NumberRange) throws(FilterProcessError) -> ClosedRange<Double>
    {
      guard range.minimum.isFinite, range.maximum.isFinite, range.minimum <= range.maximum else {
        throw FilterProcessError("\(range.minimum) to \(range.maximum) is not a range")
      }
      return range.minimum ... range.maximum
    }
    let limits = wire.hasLimits ? try range(wire.limits) : nil
    let slider = wire.hasSlider ? try range(wire.slider) : limits
    var value: ParameterValue?
    if wire.hasDefaultValue {
      do throws(FieldViolation) {
        value = try ParameterValue(wire.defaultValue)
      } catch {
        throw FilterProcessError("default_value: \(error.reason)")
      }
    }
    if let value, !value.fits(kind, limits) {
      throw FilterProcessError("the default doesn't fit the kind \(wire.kind), or its range")
    }
    self.init(
      wire.name, kind, default: value, slider: slider, limits: limits, unit: unit, wire.summary)
  }
}

extension ParameterValue {
  fileprivate func fits(_ kind: ParameterDescription.Kind, _ limits: ClosedRange<Double>?) -> Bool {
    switch (kind, self) {
    case (.number, .number(let number)): number.isFinite && limits?.contains(number) != false
    case (.length, .length(let length)): length.value.isFinite
    case (.length, .number(let number)): number.isFinite
    case (.point, .point), (.color, .color), (.flag, .flag), (.text, .text): true
    case (.vector(let count), .vector(let values)): values.count == count
    case (.choice(let choices), .text(let text)): choices.contains(text)
    default: false
    }
  }
}

extension String {
  /// Whether the text is a name in lower camel case.
  fileprivate var isIdentifier: Bool {
    guard let first = self.utf8.first, self.utf8.count <= 64 else { return false }
    return (UInt8(ascii: "a") ... UInt8(ascii: "z")).contains(first)
      && self.unicodeScalars.allSatisfy {
        $0.isASCII && $0.properties.isAlphabetic || ("0" ... "9").contains($0)
      }
  }
}
