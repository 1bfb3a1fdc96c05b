package import SidelightKernels

extension ParameterValue {
  /// - Throws: ``FieldFault`` if no kind is set, or one that this build does not know.
  package init(_ wire: Sidelight_V1_ParameterValue) throws(FieldFault) {
    switch wire.kind {
    case .number(let value)?: self = .number(value)
    case .length(let value)?: self = .length(try Length(value))
    case .point(let value)?: self = .point(try Point(value))
    case .color(let value)?: self = .color(Color(value))
    case .vector(let value)?: self = .vector(value.values)
    case .flag(let value)?: self = .flag(value)
    case .text(let value)?: self = .text(value)
    case nil: throw FieldFault(field: "kind", reason: "no kind of value is set")
    }
  }
}

extension Sidelight_V1_ParameterValue {
  package init(_ value: ParameterValue) {
    self.init()
    switch value {
    case .number(let value): self.number = value
    case .length(let value): self.length = Sidelight_V1_Length(value)
    case .point(let value): self.point = Sidelight_V1_Point(value)
    case .color(let value): self.color = Sidelight_V1_Color(value)
    case .vector(let value): self.vector.values = value
    case .flag(let value): self.flag = value
    case .text(let value): self.text = value
    }
  }
}

extension Length {
  init(_ wire: Sidelight_V1_Length) throws(FieldFault) {
    let unit: Unit =
      switch wire.unit {
      case .unspecified, .pixels: .pixels
      case .width: .width
      case .height: .height
      case .shortSide: .shortSide
      case .UNRECOGNIZED(let value):
        throw FieldFault(field: "unit", reason: "\(value) is no unit of length")
      }
    self.init(wire.value, unit)
  }
}

extension Sidelight_V1_Length {
  init(_ length: Length) {
    self.init()
    self.value = length.value
    self.unit =
      switch length.unit {
      case .pixels: .pixels
      case .width: .width
      case .height: .height
      case .shortSide: .shortSide
      }
  }
}

extension Point {
  init(_ wire: Sidelight_V1_Point) throws(FieldFault) {
    self.init(x: try Length(wire.x), y: try Length(wire.y))
  }
}

extension Sidelight_V1_Point {
  init(_ point: Point) {
    self.init()
    self.x = Sidelight_V1_Length(point.x)
    self.y = Sidelight_V1_Length(point.y)
  }
}

extension Color {
  init(_ wire: Sidelight_V1_Color) {
    self.init(
      red: wire.red, green: wire.green, blue: wire.blue,
      alpha: wire.hasAlpha ? wire.alpha : 1)
  }
}

extension Sidelight_V1_Color {
  init(_ color: Color) {
    self.init()
    self.red = color.red
    self.green = color.green
    self.blue = color.blue
    self.alpha = color.alpha
  }
}
