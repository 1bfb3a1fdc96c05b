import Foundation
import SidelightProtobuf

/// An ONNX file that the operator configured.
public struct ModelFile: Sendable {
  /// The name of the model in the configuration.
  public let name: String
  /// The path of the file, for messages.
  public let path: String
  /// The contents of the file.
  public let bytes: [UInt8]
  /// The bounds that the model must keep.
  public let limits: ModelLimits
  package let graph: ONNXGraph

  /// Reads a file.
  ///
  /// - Throws: ``VisionError`` that names the model and the file if the file cannot be read, isn't
  ///   an ONNX model, or exceeds the limits.
  public init(
    name: String, path: String, limits: ModelLimits = ModelLimits()
  ) throws(VisionError) {
    let bytes = try Self.read(path, name: name, limit: limits.fileBytes)
    try self.init(name: name, path: path, bytes: bytes, limits: limits)
  }

  /// Creates a model from the contents of a file.
  ///
  /// - Throws: ``VisionError`` that names the model and the file if the bytes aren't an ONNX model,
  ///   or exceed the limits.
  public init(
    name: String, path: String, bytes: [UInt8], limits: ModelLimits = ModelLimits()
  ) throws(VisionError) {
    self.name = name
    self.path = path
    self.bytes = bytes
    self.limits = limits
    do {
      self.graph = try ONNXGraph(bytes, limits: limits)
    } catch {
      throw VisionError(error.code, "model \(name) (\(path)): \(error.message)")
    }
  }

  /// The contents of the optional `.json` file next to the model, which describes it.
  ///
  /// - Throws: ``VisionError`` if the file exists and cannot be read.
  func descriptionBytes() throws(VisionError) -> [UInt8]? {
    let stem = self.path.hasSuffix(".onnx") ? String(self.path.dropLast(5)) : self.path
    let path = stem + ".json"
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    return try Self.read(path, name: self.name, limit: 1 << 16)
  }

  /// Returns an error about this model.
  func error(_ code: VisionError.Code, _ message: String) -> VisionError {
    VisionError(code, "model \(self.name) (\(self.path)): \(message)")
  }

  private static func read(
    _ path: String, name: String, limit: Int
  ) throws(VisionError) -> [UInt8] {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      let data = try file.read(upToCount: limit + 1) ?? Data()
      guard data.count <= limit else {
        throw VisionError(
          .limitExceeded, "model \(name) (\(path)): the file has more than \(limit) bytes")
      }
      return [UInt8](data)
    } catch let error as VisionError {
      throw error
    } catch {
      throw VisionError(.unreadable, "model \(name) (\(path)): the file cannot be read")
    }
  }
}

/// A message of an ONNX model.
typealias ModelMessage = ProtobufReader<[UInt8]>

extension ModelMessage {
  /// Returns the next field, or `nil` at the end of the message.
  ///
  /// - Throws: ``VisionError`` with code `malformed`.
  mutating func nextField() throws(VisionError) -> (field: Int, value: Value)? {
    do throws(ProtobufError) {
      return try self.next().map { ($0.number, $0.value) }
    } catch {
      throw VisionError(.malformed, "\(error)")
    }
  }

  /// Returns the next number of a packed list, or `nil` at its end.
  ///
  /// - Throws: ``VisionError`` with code `malformed`.
  mutating func nextListNumber() throws(VisionError) -> UInt64? {
    do throws(ProtobufError) {
      return try self.nextNumber()
    } catch {
      throw VisionError(.malformed, "\(error)")
    }
  }
}
