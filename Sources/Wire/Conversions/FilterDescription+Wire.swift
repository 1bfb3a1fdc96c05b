package import SidelightKernels

extension Sidelight_V1_FilterDescription {
  package init(_ description: FilterDescription) {
    self.init()
    self.name = description.name
    self.summary = description.summary
    self.category = description.category.rawValue
    self.formula = description.formula
    self.parameters = description.parameters.map(Sidelight_V1_ParameterDescription.init)
    self.reach =
      switch description.reach {
      case .pixel: .pixel
      case .neighborhood: .neighborhood
      case .frame: .frame
      }
    self.fidelity =
      switch description.fidelity {
      case .formula: .formula
      case .modelled: .modelled
      case .approximation: .approximation
      case .custom: .custom
      }
    self.coreImageName = description.coreImageName ?? ""
    self.requirement = description.requirement?.rawValue ?? ""
    self.keywords = description.keywords
    self.examples = description.examples.compactMap { text in
      (try? Pipeline(text: text)).map(Sidelight_V1_Pipeline.init)
    }
  }
}

extension Sidelight_V1_ParameterDescription {
  init(_ description: ParameterDescription) {
    self.init()
    self.name = description.name
    self.summary = description.summary
    if let value = description.defaultValue {
      self.defaultValue = Sidelight_V1_ParameterValue(value)
    }
    if let slider = description.slider { self.slider = Sidelight_V1_NumberRange(slider) }
    if let limits = description.limits { self.limits = Sidelight_V1_NumberRange(limits) }
    self.unit =
      switch description.unit {
      case .none: .unspecified
      case .pixels: .pixels
      case .radians: .radians
      case .kelvin: .kelvin
      case .stops: .stops
      }
    switch description.kind {
    case .number: self.kind = .number
    case .length: self.kind = .length
    case .point: self.kind = .point
    case .color: self.kind = .color
    case .vector(let count):
      self.kind = .vector
      self.vectorLength = UInt32(count)
    case .flag: self.kind = .flag
    case .choice(let choices):
      self.kind = .choice
      self.choices = choices
    case .asset:
      self.kind = .asset
      self.assetKind = description.assetKind.map(\.rawValue) ?? ""
    case .text: self.kind = .text
    }
    if let defaults = description.choiceDefaults {
      self.choiceDefaults.parameter = defaults.parameter
      self.choiceDefaults.values = defaults.values.mapValues(Sidelight_V1_ParameterValue.init)
    }
  }
}

extension Sidelight_V1_NumberRange {
  init(_ range: ClosedRange<Double>) {
    self.init()
    self.minimum = range.lowerBound
    self.maximum = range.upperBound
  }
}
