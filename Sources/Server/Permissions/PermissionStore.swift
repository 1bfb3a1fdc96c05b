import SidelightKernels
import SidelightWire

/// The rules of the configuration about the filters that callers may use.
final class PermissionStore: Sendable {
  private struct Rules: Sendable {
    var callers: [PermissionRule]
    var participants: [PermissionRule]

    init(_ rules: [PermissionRule]) {
      self.callers = rules.filter(\.participants.isEmpty)
      self.participants = rules.filter { !$0.participants.isEmpty }
    }
  }

  private let rules: LockedValue<Rules>

  init(_ rules: [PermissionRule]) {
    self.rules = LockedValue(Rules(rules))
  }

  /// Replaces the rules. They apply to sessions that open and to pipelines that change from now on.
  func update(_ rules: [PermissionRule]) { self.rules.value = Rules(rules) }

  /// Returns the grants of the rules to a caller, and to the participant for which it acts.
  func grants(for caller: Caller) -> [FilterPermissions.Grant] {
    let rules = self.rules.value
    var grants: [FilterPermissions.Grant] = []
    if !rules.callers.isEmpty {
      grants.append(
        Self.grant(rules.callers.first { $0.matches(caller) }, "the caller's permissions"))
    }
    if caller.identity.isParticipant, !rules.participants.isEmpty {
      let rule = rules.participants.first { $0.matchesParticipant(of: caller) }
      grants.append(Self.grant(rule, "the participant's permissions"))
    }
    return grants
  }

  private static func grant(_ rule: PermissionRule?, _ origin: String) -> FilterPermissions.Grant {
    FilterPermissions.Grant(
      origin: origin, filters: rule?.filters ?? .none, ranges: rule?.parameters ?? [])
  }
}

/// The permissions of one caller, and of the participant for which it acts, by the configuration's
/// rules, the caller's token, and the session.
///
/// The rules are looked up whenever a pipeline is resolved: an open session follows a reload with
/// its next change.
struct CallerPermissions: FilterPermissionProvider {
  let store: PermissionStore
  let caller: Caller
  /// The filters of `Open.allowed_filters`; `nil` permits all.
  let allowedFilters: FilterNameList?

  /// The current permissions; `nil` permits all filters.
  var permissions: FilterPermissions? {
    var grants = self.store.grants(for: self.caller)
    if let filters = self.caller.principal?.filters {
      grants.append(FilterPermissions.Grant(origin: "the token's claim filters", filters: filters))
    }
    if let allowedFilters {
      grants.append(
        FilterPermissions.Grant(origin: "open.allowed_filters", filters: allowedFilters))
    }
    return grants.isEmpty ? nil : FilterPermissions(grants: grants)
  }
}

extension FilterNameList {
  /// Reads `Open.allowed_filters`.
  ///
  /// - Parameter field: The field of the request that has the list.
  /// - Returns: `nil` for an empty list, which permits all filters.
  /// - Throws: ``FieldViolation`` with the entry and the limit.
  static func allowed(
    _ entries: [String], field: String
  ) throws(FieldViolation) -> FilterNameList? {
    try ContractLimits.check(
      count: entries.count, atMost: ContractLimits.maxAllowedFilters, field: field)
    guard !entries.isEmpty else { return nil }
    do throws(FilterNameError) {
      return try FilterNameList(entries)
    } catch {
      throw FieldViolation(
        field: "\(field)[\(error.index)]", reason: error.reason,
        info: .init(value: entries[error.index]))
    }
  }
}
