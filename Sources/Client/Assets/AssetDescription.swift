import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// An asset that a caller's pipelines may name, as the server tells of it.
public struct AssetDescription: Sendable, Hashable {
  /// What it is.
  public enum Contents: Sendable, Hashable {
    /// A picture.
    case image(FrameSize)
    /// A colour table: a cube with so many entries a side.
    case cube(entries: Int)
    /// A colour table: three curves with so many entries each.
    case curves(entries: Int)
  }

  /// What pipelines call it.
  public let name: String
  /// What it is; `nil` if the server is newer and has other kinds.
  public let contents: Contents?
  /// Whether the server provides it, to all callers. It cannot be replaced or deleted.
  public let isProvidedByServer: Bool
  /// The length of the file, in bytes; 0 for the server's own.
  public let fileByteCount: Int
  /// The most that it takes in the server's memory, in bytes, which counts against the limits; 0 for the
  /// server's own.
  public let memoryByteCount: Int
  /// The file's SHA-256; empty for the server's own.
  public let sha256: [UInt8]

  init(_ wire: Sidelight_V1_Asset) {
    self.name = wire.name
    self.contents =
      switch wire.kind {
      case .image: .image(FrameSize(width: Int(wire.width), height: Int(wire.height)))
      case .cube where wire.isCube: .cube(entries: Int(wire.entries))
      case .cube: .curves(entries: Int(wire.entries))
      default: nil
      }
    self.isProvidedByServer = wire.origin == .server
    self.fileByteCount = Int(clamping: wire.fileBytes)
    self.memoryByteCount = Int(clamping: wire.memoryBytes)
    self.sha256 = [UInt8](wire.sha256)
  }
}
