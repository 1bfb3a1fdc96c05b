public import SidelightKernels
import SidelightWire

/// A rule about the filters that callers or participants may use.
///
/// Of the rules without ``participants`` the first match for a caller applies to it. Of the rules
/// with ``participants`` the first match applies to a participant, in addition to the rule for its
/// caller. If rules of a kind exist but do not match, all filters are refused.
public struct PermissionRule: Sendable, Hashable {
  /// The names of callers, or prefixes that end in `*`. An empty list matches all callers.
  public var callers: [NamePattern]
  /// The names of participants, or prefixes that end in `*`. A rule with an empty list applies to
  /// callers.
  public var participants: [NamePattern]
  /// The scopes of which a caller has at least one. An empty set matches all callers. A caller that
  /// is not authenticated has all scopes.
  public var scopes: Set<Scope>
  /// The permitted filters.
  public var filters: FilterNameList
  /// The permitted ranges of parameters. Parameters without a range are unlimited.
  public var parameters: [ParameterRange]

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - callers: The callers; all by default.
  ///   - participants: The participants; empty by default.
  ///   - scopes: The scopes of callers; any by default.
  ///   - filters: The permitted filters.
  ///   - parameters: The permitted ranges of parameters.
  public init(
    callers: [NamePattern] = [], participants: [NamePattern] = [], scopes: Set<Scope> = [],
    filters: FilterNameList, parameters: [ParameterRange] = []
  ) {
    self.callers = callers
    self.participants = participants
    self.scopes = scopes
    self.filters = filters
    self.parameters = parameters
  }

  /// Returns whether the rule matches a caller.
  func matches(_ caller: Caller) -> Bool {
    let hasScope =
      self.scopes.isEmpty
      || caller.principal.map { !$0.scopes.isDisjoint(with: self.scopes) } ?? true
    return hasScope
      && (self.callers.isEmpty || self.callers.contains { $0.matches(caller.name) })
  }

  /// Returns whether the rule matches the participant of a caller.
  func matchesParticipant(of caller: Caller) -> Bool {
    self.participants.contains { $0.matches(caller.participant) } && self.matches(caller)
  }
}

extension [PermissionRule] {
  /// Checks that the ranges of all rules apply to parameters of a catalogue.
  ///
  /// - Throws: `ConfigurationError` that names the rule and the range.
  func validate(with catalogue: FilterCatalogue) throws(ConfigurationError) {
    for (index, rule) in self.enumerated() {
      for range in rule.parameters {
        guard let error = range.error(in: catalogue) else { continue }
        throw ConfigurationError(
          setting: "permissions[\(index)].parameters", value: "\(range), which \(error)",
          range: ParameterRange.form)
      }
    }
  }
}
