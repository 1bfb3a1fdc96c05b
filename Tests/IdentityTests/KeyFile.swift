import Foundation

/// A temporary file with a JSON web key set.
struct KeyFile {
  let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("sidelight-keys-\(UUID().uuidString).json").path

  func remove() {
    try? FileManager.default.removeItem(atPath: self.path)
  }

  func write(_ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: self.path))
  }

  /// Writes a set of keys with changes to their fields. `NSNull` removes a field.
  func write(_ keys: [(id: String, key: SigningKey, changes: [String: Any])]) throws {
    let entries = try keys.map { entry in
      let fields: [String: Any] = try entry.key.publicFields()
      return fields.merging(["kid": entry.id]) { $1 }.merging(entry.changes) { $1 }
        .filter { !($0.value is NSNull) }
    }
    try self.write(
      String(
        decoding: try JSONSerialization.data(withJSONObject: ["keys": entries]), as: UTF8.self))
  }
}
