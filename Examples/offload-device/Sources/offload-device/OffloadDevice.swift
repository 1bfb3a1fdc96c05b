import Foundation
import SidelightClient
import SidelightCodecs

/// A device that is too weak to filter its camera: it encodes the pictures of a Y4M file at their
/// rate, sends them, and decodes the filtered ones, with all its work on one core:
///
///     taskset -c 0 offload-device ADDRESS FILE [BITS-PER-SECOND [h264|vp8|vp9]]
@main
struct OffloadDevice {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let codec = VideoCodec(rawValue: arguments.count > 4 ? arguments[4] : "h264")
    let bitRate = arguments.count > 3 ? Int(arguments[3]) : 2_000_000
    guard (3 ... 5).contains(arguments.count), let codec, let bitRate,
      let format = EncodedFormat(rawValue: codec.rawValue)
    else {
      print("usage: offload-device ADDRESS FILE.y4m [BITS-PER-SECOND [h264|vp8|vp9]]")
      exit(64)
    }
    let camera = try Camera(path: arguments[2])
    let options = SessionOptions(
      pipeline: [.sepiaTone(intensity: 0.8), .vignette(intensity: 1)], label: "offload-device",
      // Of frames that arrive together, after a lost packet, one more is shown.
      mailboxDepth: 2,
      // The server adapts its encoder to the link too.
      outputWindow: 8, output: OutputOptions(format: .encoded(format)),
      reconnect: ReconnectPolicy(failOpen: .nothing))
    let target = EncoderTarget(
      bitRate: bitRate, width: camera.size.width, height: camera.size.height,
      frameRate: camera.frameRate)

    try await SidelightClient.connect(to: Address(arguments[1])) { client in
      try await client.withSession(options) { session in
        let report = Report()
        let sender = EncodedSender(session, target: target)
        async let shown: Void = show(session, sender, codec, report)
        var encoder = Encoder(codec: codec)
        try await send(camera, format, &encoder, to: sender, report)
        session.finish()
        try await shown
        report.printTotals()
      }
    }
  }

  /// Encodes and sends the pictures for which the link has room.
  private static func send(
    _ camera: Camera, _ format: EncodedFormat, _ encoder: inout Encoder, to sender: EncodedSender,
    _ report: Report
  ) async throws {
    while let (picture, time) = try await camera.next() {
      report.printLine(at: time, sender.current)
      guard let next = sender.next() else {
        report.record(.leftOut)
        continue
      }
      let unit = try encoder.encode(picture, next, at: time)
      report.record(.sent(byteCount: unit.count))
      let frame = EncodedFrame(format, unit, isKeyFrame: next.isKeyFrame)
      await sender.send(
        VideoFrame(.encoded(frame), captureTimeNanoseconds: Int64(time / .nanoseconds(1))))
    }
  }

  /// Decodes the filtered frames, which a device would then show.
  private static func show(
    _ session: FilterSession, _ sender: EncodedSender, _ codec: VideoCodec, _ report: Report
  ) async throws {
    let decoder = try VideoDecoder(codec: codec, pool: BufferPool(), limits: ImageLimits())
    for try await event in session.events {
      sender.record(event)
      switch event {
      case .outcome(.filtered(let frame)):
        guard let bytes = frame.picture.encoded?.bytes else { continue }
        _ = try decoder.decode(bytes.span.bytes)
        report.record(.shown(frame.roundTripTime))
      case .outcome(.dropped(let frame)): report.record(.dropped(frame.reason))
      case .connection(.interrupted(let cause, _, _)): print("the connection is lost: \(cause)")
      default: break
      }
    }
  }
}
