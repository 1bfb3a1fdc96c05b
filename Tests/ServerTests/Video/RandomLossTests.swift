import Foundation
import GRPCCore
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Streams that lose frames at random in front of the decoder, compared with what ffmpeg decodes of
/// the whole stream.
@Suite(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"), .timeLimit(.minutes(30)))
struct RandomLossTests {
  /// The number of losses for every codec; `dev/test losses` sets a greater one.
  static let lossCount =
    ProcessInfo.processInfo.environment["SIDELIGHT_TEST_LOSSES"].flatMap(Int.init) ?? 150
  static let framesPerSession = 300

  @Test(arguments: EncodedStream.encodable)
  func `no damaged picture is shown, and key frames are requested at most twice a second`(
    codec: VideoCodec
  ) async throws {
    var random = SeededRandom(seed: 29)
    var lost = 0
    while lost < Self.lossCount {
      var isLost: [Bool] = []
      while isLost.count < Self.framesPerSession {
        let isGroup = random.chance(0.03)
        isLost += isGroup ? [true, true, true] : [random.chance(0.06)]
      }
      lost += isLost.count { $0 }
      try await Self.check(codec, isLost)
    }
  }

  /// Sends a stream without the lost frames, and checks all that comes back.
  private static func check(_ codec: VideoCodec, _ isLost: [Bool]) async throws {
    let sender = try Sender(codec)
    let clock = ManualClock()
    let session = try await withServer(clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        try await Self.send(sender, isLost, to: stub, clock)
      }
    }
    let units = sender.units
    let expected = try referencePictures(of: units, codec)
    try #require(expected.count == units.count)
    var shown = 0
    for frame in session.answers.frames {
      shown += 1
      #expect(
        frame.image.inline == expected[Int(frame.sequence) - 1],
        "\(codec) picture \(frame.sequence) is damaged")
    }
    #expect(shown > 0)
    #expect(
      shown + session.answers.drops.reduce(0) { $0 + Int($1.count) } == isLost.count { !$0 })
    #expect(session.answers.drops.allSatisfy { $0.reason == .notDecodable })
    // Frames are 33 ms apart. A frame that the reader refuses may have its outcome some frames before
    // its request, so only the number of requests is known.
    #expect(session.requests <= 33 * isLost.count / 500 + 1)
    // The key frame that answers a request is shown unless it is lost, and so is all up to the next
    // loss.
    for index in sender.keyFrames where !isLost[index] {
      let end = isLost[index...].firstIndex(of: true) ?? isLost.count
      let numbers = (index ..< end).map { UInt64($0 + 1) }
      #expect(Set(numbers).isSubset(of: session.answers.frames.map(\.sequence)))
    }
  }

  private struct Session: Sendable {
    var answers: [Sidelight_V1_ServerMessage] = []
    /// The number of requests for key frames.
    var requests = 0
    var isKeyFrameNeeded = false
  }

  private static func send(
    _ sender: Sender, _ isLost: [Bool], to stub: Stub, _ clock: ManualClock
  ) async throws -> Session {
    let session = Mutex(Session())
    let (outcomes, outcome) = AsyncStream<Void>.makeStream()
    try await stub.process(options: largeMessages) { writer in
      var outcomes = outcomes.makeAsyncIterator()
      try await writer.write(.open { $0.output.format = .i420 })
      for (index, isLost) in isLost.enumerated() {
        clock.advance(by: .milliseconds(33))
        let isKeyFrameNeeded = session.withLock { session in
          defer { session.isKeyFrameNeeded = false }
          return session.isKeyFrameNeeded
        }
        let image = try sender.next(isKeyFrame: isKeyFrameNeeded)
        if isLost { continue }
        try await writer.write(.frame(UInt64(index + 1), image))
        await outcomes.next()
      }
    } onResponse: { response in
      for try await message in response.messages {
        session.withLock { session in
          session.answers.append(message)
          if case .keyFrameNeeded? = message.kind {
            session.requests += 1
            session.isKeyFrameNeeded = true
          }
        }
        switch message.kind {
        case .frame?: outcome.yield()
        case .dropped(let run)?: for _ in 0 ..< run.count { outcome.yield() }
        default: break
        }
      }
      outcome.finish()
    }
    return session.withLock { $0 }
  }
}

/// A sender that encodes one frame after another.
private final class Sender: @unchecked Sendable {  // one task at a time uses it
  private(set) var units: [[UInt8]] = []
  /// The indices of key frames that were requested, and of the first.
  private(set) var keyFrames: [Int] = []
  private let codec: VideoCodec
  private let encoder: VideoEncoder

  init(_ codec: VideoCodec) throws {
    self.codec = codec
    self.encoder = try VideoEncoder(
      VideoEncoderSettings(
        codec: codec, size: FrameSize(width: 96, height: 64), bitRate: 600_000))
  }

  func next(isKeyFrame: Bool) throws -> Sidelight_V1_Image {
    let index = self.units.count
    if isKeyFrame || index == 0 { self.keyFrames.append(index) }
    let unit = try self.encoder.withEncoded(
      EncodedStream.picture(index), forcesKeyFrame: isKeyFrame, at: .milliseconds(33 * index)
    ) { bytes, _ in bytes.withUnsafeBytes { [UInt8]($0) } }
    self.units.append(unit)
    return .with {
      $0.format = Sidelight_V1_PixelFormat(EncodedFormat(rawValue: self.codec.rawValue) ?? .vp8)
      $0.inline = Data(unit)
    }
  }
}

/// Returns the pictures of a stream of 96x64 pixels as ffmpeg decodes it; as this project's decoder
/// does where ffmpeg is not installed.
private func referencePictures(of units: [[UInt8]], _ codec: VideoCodec) throws -> [Data] {
  guard FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg") else {
    let decoder = try VideoDecoder(codec: codec, pool: BufferPool(), limits: ImageLimits())
    return try units.map { Data(try decoder.decode($0.span.bytes).bytes) }
  }
  let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let (input, output) = (folder.appending(path: "in"), folder.appending(path: "out"))
  try Data(file(of: units, codec)).write(to: input)
  let ffmpeg = Process()
  ffmpeg.executableURL = URL(filePath: "/usr/bin/ffmpeg")
  ffmpeg.arguments = [
    "-loglevel", "error", "-f", codec == .h264 ? "h264" : "ivf", "-i", input.path,
    "-f", "rawvideo", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", output.path,
  ]
  try ffmpeg.run()
  ffmpeg.waitUntilExit()
  try #require(ffmpeg.terminationStatus == 0)
  let pictures = try Data(contentsOf: output)
  let size = 96 * 64 * 3 / 2
  return stride(from: 0, to: pictures.count, by: size).map { Data(pictures[$0 ..< $0 + size]) }
}

/// Returns the bytes of a file with a stream: H.264 as it is, VP8 and VP9 in IVF.
private func file(of units: [[UInt8]], _ codec: VideoCodec) -> [UInt8] {
  if codec == .h264 { return Array(units.joined()) }
  func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    (0 ..< count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
  var file = Array("DKIF".utf8) + bytes(0, 2) + bytes(32, 2)
  file += Array((codec == .vp8 ? "VP80" : "VP90").utf8) + bytes(96, 2) + bytes(64, 2)
  file += bytes(30, 4) + bytes(1, 4) + bytes(units.count, 4) + bytes(0, 4)
  for (index, unit) in units.enumerated() {
    file += bytes(unit.count, 4) + bytes(index, 8) + unit
  }
  return file
}
