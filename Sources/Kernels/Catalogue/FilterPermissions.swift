/// The filters that pipelines may use, and the values of their parameters.
///
/// It consists of grants from several origins. All of them must permit a filter and its values.
public struct FilterPermissions: Sendable, Hashable {
  /// The filters that one origin permits.
  public struct Grant: Sendable, Hashable {
    /// The origin, for errors: `open.allowed_filters`.
    public var origin: String
    /// The permitted filters.
    public var filters: FilterNameList
    /// The permitted ranges of parameters. Parameters without a range are not limited.
    public var ranges: [ParameterRange]

    /// Creates a grant.
    public init(origin: String, filters: FilterNameList, ranges: [ParameterRange] = []) {
      self.origin = origin
      self.filters = filters
      self.ranges = ranges
    }
  }

  /// The grants.
  public var grants: [Grant]

  /// Creates permissions. An empty list permits all filters.
  public init(grants: [Grant]) { self.grants = grants }

  /// Returns whether a filter is permitted, by its name in a catalogue.
  public func permits(_ filter: String) -> Bool {
    self.grants.allSatisfy { $0.filters.contains(filter) }
  }

  /// Checks whether a filter is permitted.
  ///
  /// - Throws: ``PipelineError`` with code `notPermitted`, and the name.
  func check(_ description: FilterDescription, path: String) throws(PipelineError) {
    guard let grant = self.grants.first(where: { !$0.filters.contains(description.name) }) else {
      return
    }
    throw PipelineError(
      code: .notPermitted, path: path,
      message: "the filter \"\(description.name)\" is not permitted by \(grant.origin)",
      value: description.name)
  }

  /// Checks whether the values of a call are permitted.
  ///
  /// - Parameters:
  ///   - values: A value for every parameter of the description.
  ///   - call: The call. Errors use its spelling of the parameters.
  ///   - path: The path of the call: `stages[0].filter`.
  /// - Throws: ``PipelineError`` with code `notPermitted`, the value and the range.
  func check(
    _ values: [String: ParameterValue], of description: FilterDescription, _ call: FilterCall,
    path: String
  ) throws(PipelineError) {
    for grant in self.grants {
      for range in grant.ranges(of: description) {
        guard let value = values[range.parameter] else { continue }
        let numbers = value.numbersInPixels
        if let numbers, numbers.allSatisfy(range.contains) { continue }
        let name = call.parameters.keys.sorted()
          .first { Spelling.canonicalParameter($0) == range.parameter }
        let shown = numbers?.first { !range.contains($0) }.map { "\($0)" } ?? value.errorText
        throw PipelineError(
          code: .notPermitted,
          path: "\(path).parameters[\"\((name ?? range.parameter).clipped(toBytes: 64))\"]",
          message: "\(range.parameter) \(name == nil ? "defaults to" : "is") \(shown); the range "
            + "permitted by \(grant.origin) is \(range.rangeText)"
            + (numbers == nil ? ", in pixels" : ""),
          value: shown, limit: range.rangeText)
      }
    }
  }

  /// Returns the description of a filter with the permitted ranges of its parameters, and without
  /// forbidden defaults.
  ///
  /// - Returns: `nil` if the filter, or every value of one of its parameters, is not permitted.
  public func narrowed(_ description: FilterDescription) -> FilterDescription? {
    guard self.permits(description.name) else { return nil }
    let ranges = self.grants.flatMap { $0.ranges(of: description) }
    guard !ranges.isEmpty else { return description }
    var parameters: [ParameterDescription] = []
    for parameter in description.parameters {
      var narrowed = parameter
      for range in ranges where range.parameter == parameter.name {
        guard let next = narrowed.narrowed(to: range) else { return nil }
        narrowed = next
      }
      parameters.append(narrowed)
    }
    return description.with(parameters)
  }
}

extension FilterPermissions.Grant {
  fileprivate func ranges(of description: FilterDescription) -> [ParameterRange] {
    guard !self.ranges.isEmpty else { return [] }
    let name = Spelling.canonicalFilter(description.name)
    return self.ranges.filter { $0.filter == name }
  }
}

extension ParameterDescription {
  /// Returns the description with limits within a range; `nil` if the ranges don't overlap.
  fileprivate func narrowed(to range: ParameterRange) -> ParameterDescription? {
    guard let limits = range.intersection(self.limits ?? ArgumentValidator.defaultLimits) else {
      return nil
    }
    let isDefaultPermitted =
      self.defaultValue?.numbersInPixels?.allSatisfy(range.contains) ?? false
    return ParameterDescription(
      self.name, self.kind, default: isDefaultPermitted ? self.defaultValue : nil,
      slider: self.slider.map { range.intersection($0) ?? limits }, limits: limits,
      unit: self.unit, assetKind: self.assetKind, acceptsSource: self.acceptsSource, self.summary)
  }
}

extension ParameterValue {
  /// The numbers to which a range applies; `nil` for a length that is not in pixels. Empty for
  /// values without numbers.
  fileprivate var numbersInPixels: [Double]? {
    switch self {
    case .number(let number): [number]
    case .length(let length): length.unit == .pixels ? [length.value] : nil
    case .vector(let numbers): numbers
    case .point, .color, .flag, .text: []
    }
  }

  /// The value in errors.
  fileprivate var errorText: String {
    switch self {
    case .length(let length):
      switch length.unit {
      case .pixels: "\(length.value)"
      case .width: "\(length.value) frame widths"
      case .height: "\(length.value) frame heights"
      case .shortSide: "\(length.value) short sides"
      }
    default: "\(self)"
    }
  }
}

extension FilterCatalogue {
  /// The descriptions of the available filters that ``permissions`` permits, sorted by name, with
  /// the permitted ranges of their parameters.
  package var permittedDescriptions: [FilterDescription] {
    guard let permissions = self.permissions?.permissions else { return self.descriptions }
    return self.descriptions.compactMap(permissions.narrowed)
  }

  /// Returns a description with the permitted ranges of its parameters; `nil` if the filter is not
  /// permitted.
  package func permitted(_ description: FilterDescription) -> FilterDescription? {
    guard let permissions = self.permissions?.permissions else { return description }
    return permissions.narrowed(description)
  }
}

/// The source of the permissions that apply when a pipeline is resolved.
package protocol FilterPermissionProvider: Sendable {
  /// The current permissions; `nil` permits all filters.
  var permissions: FilterPermissions? { get }
}

/// A name, or a prefix of names that ends in `*`.
public struct NamePattern: Sendable, Hashable, CustomStringConvertible {
  /// The text: `guest-7`, `guest*`, `*`.
  public let text: String

  /// Creates a pattern. A `*` at its end matches any rest; elsewhere it is an ordinary character.
  public init(_ text: String) { self.text = text }

  /// Returns whether the pattern matches a name.
  public func matches(_ name: String) -> Bool {
    self.text.hasSuffix("*") ? name.hasPrefix(self.text.dropLast()) : name == self.text
  }

  /// The text.
  public var description: String { self.text }
}

/// A list of names of filters, and of prefixes of names that end in `*`.
///
/// Core Image's names are accepted: `CISepiaTone` is `sepiaTone`.
public struct FilterNameList: Sendable, Hashable {
  /// The entries, as they were given.
  public let entries: [String]
  private let names: Set<String>
  private let prefixes: [String]

  /// The list of all filters.
  public static let all = FilterNameList(unchecked: ["*"])
  /// The empty list.
  public static let none = FilterNameList(unchecked: [])

  /// Creates a list.
  ///
  /// - Throws: ``FilterNameError`` for an entry that is not a name or a prefix.
  public init(_ entries: [String]) throws(FilterNameError) {
    for (index, entry) in entries.enumerated() {
      let count = entry.utf8.count
      guard (1 ... Pipeline.maxNameBytes).contains(count) else {
        throw FilterNameError(
          index: index, reason: "has \(count) bytes; the range is 1 to \(Pipeline.maxNameBytes)")
      }
      guard !entry.dropLast().contains("*") else {
        throw FilterNameError(
          index: index,
          reason: "is \(entry.debugDescription); a * is valid only at the end of a name")
      }
    }
    self.init(unchecked: entries)
  }

  private init(unchecked entries: [String]) {
    self.entries = entries
    self.names = Set(
      entries.filter { !$0.hasSuffix("*") }.map(Spelling.canonicalFilter))
    self.prefixes =
      Set(
        entries.filter { $0.hasSuffix("*") }.map { Spelling.canonicalFilter(String($0.dropLast())) }
      )
      .sorted()
  }

  /// Returns whether the list has a filter, by its name in a catalogue.
  public func contains(_ filter: String) -> Bool {
    let name = Spelling.canonicalFilter(filter)
    return self.names.contains(name) || self.prefixes.contains(where: name.hasPrefix)
  }
}

/// An invalid entry of a list of filters.
public struct FilterNameError: Error, Sendable, Hashable {
  /// The index of the entry.
  public let index: Int
  /// A clause with the entry as its subject: `has 0 bytes; the range is 1 to 64`.
  public let reason: String
}
