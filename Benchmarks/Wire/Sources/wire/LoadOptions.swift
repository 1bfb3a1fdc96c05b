import BenchmarkSupport
import SidelightClient

/// The options of a load. The peers accept the same options, as far as they apply.
struct LoadOptions: Sendable {
  /// The kind of client.
  enum Client: String {
    /// `SidelightClient`.
    case library
    /// Generated code, with the settings of the transport.
    case generated
  }

  var client = Client.library
  /// `--address`: the address of the server.
  var address = Address.tcp(host: "127.0.0.1", port: 0)
  /// `--format`, `--size`: the frames.
  var geometry = FrameGeometry(format: .i420, size: FrameSize(width: 1280, height: 720))
  /// `--streams`: the number of concurrent sessions.
  var streams = 1
  /// `--connections` (default: one per session): the connections that the sessions share.
  var connections: Int?
  /// `--in-flight`: the frames in flight of a session.
  var inFlight = 1
  /// `--fps` (default: none, a frame when one returns): frames a second per session, newest wins.
  var framesPerSecond: Double?
  /// `--idle yes` (default: no): sessions are open without sending; library only.
  var isIdle = false
  /// `--work`: the work of the server.
  var work = Work.none
  /// `--shared-memory yes` (default: no): requires shared memory; library only.
  var sharedMemory = false
  /// `--jpeg` (default: none, raw frames): the quality of JPEG frames; generated code only.
  var jpegQuality: Int?
  /// `--warm-up`: the seconds before the measurement.
  var warmUp = Duration.seconds(0.5)
  /// `--seconds`: the measured time.
  var duration = Duration.seconds(2)

  init(_ arguments: some Sequence<String>) throws {
    var arguments = Array(arguments)[...]
    while let name = arguments.popFirst() {
      guard let value = arguments.popFirst() else {
        throw UsageError(description: "\(name) lacks its value.")
      }
      func parsed<Value>(_ result: Value?) throws -> Value {
        guard let result else { throw UsageError(description: "\(name) cannot be \(value).") }
        return result
      }
      switch name {
      case "--client": self.client = try parsed(Client(rawValue: value))
      case "--address": self.address = try Address(value)
      case "--format": self.geometry.format = try parsed(PixelFormat(rawValue: value))
      case "--size":
        let sides = value.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2 else { throw UsageError(description: "--size is like 1280x720.") }
        self.geometry.size = FrameSize(width: sides[0], height: sides[1])
      case "--bytes": break  // For peers without pictures.
      case "--streams": self.streams = try parsed(Int(value))
      case "--connections": self.connections = try parsed(Int(value))
      case "--in-flight": self.inFlight = try parsed(Int(value))
      case "--fps": self.framesPerSecond = try parsed(Double(value))
      case "--idle": self.isIdle = value == "yes"
      case "--work": self.work = try parsed(Work(rawValue: value))
      case "--shared-memory": self.sharedMemory = value == "yes"
      case "--jpeg": self.jpegQuality = try parsed(Int(value))
      case "--warm-up": self.warmUp = .seconds(try parsed(Double(value)))
      case "--seconds": self.duration = .seconds(try parsed(Double(value)))
      default: throw UsageError(description: "\(name) is no option.")
      }
    }
    self.geometry.color.alpha = .opaque
    if self.jpegQuality != nil { self.geometry.color.range = .full }
  }
}
