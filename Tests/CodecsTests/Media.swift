import Foundation

/// Real pictures, where the environment names a folder that has them.
enum Media {
  static let folder = ProcessInfo.processInfo.environment["SIDELIGHT_TEST_MEDIA"].flatMap {
    // As everywhere: empty means not set.
    $0.isEmpty ? nil : $0
  }

  static func read(_ name: String) throws -> [UInt8] {
    let folder = self.folder ?? "."
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name)))
  }
}
