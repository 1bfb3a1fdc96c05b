/// The call or room whose sessions belong to one server.
package enum SessionGroup {
  /// The key of a call's metadata with its name. Proxies read it too.
  package static let metadataKey = "sidelight-group"

  /// Checks the length of a name.
  ///
  /// - Throws: ``FieldViolation`` with the field, the length and the limit.
  package static func check(_ name: String, field: String) throws(FieldViolation) {
    try ContractLimits.check(name, atMost: ContractLimits.maxLabelBytes, field: field)
  }
}
