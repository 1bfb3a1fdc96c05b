import GRPCCore
import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// A result that is encoded when it is written.
struct UnencodedPicture: Sendable {
  fileprivate(set) var frame: Frame
  let codec: VideoCodec
  /// The received picture, if the frame passes through.
  let source: EncodedPicture?
  /// Whether an operator forced the pipeline.
  let isOverride: Bool
  /// Whether the pipeline hides a part of the frame, or an operator forced it.
  let isProtected: Bool

  /// - Parameter source: The received picture, if the frame passes through.
  init(
    _ frame: Frame, as codec: VideoCodec, of incoming: IncomingFrame, source: EncodedPicture? = nil
  ) {
    self.frame = codec == .h264 ? frame.croppedToEvenSize : frame
    self.codec = codec
    self.source = source
    self.isOverride = incoming.activePipeline.isOverride
    self.isProtected = self.isOverride || incoming.activePipeline.pipeline.protects
  }
}

/// Encodes a session's results when the writer may send them. Waiting results are samples, of which
/// a newer one can displace an older one without harm to the stream.
final class VideoWriter: @unchecked Sendable {  // only the writer's task uses it
  /// The assumed work for the first picture.
  private static let firstWork = Duration.milliseconds(8)
  /// The shortest time between a key frame and one that was requested.
  private static let requestInterval = Duration.milliseconds(500)

  /// The pictures that may have been filtered before a change of the size is in force.
  private static let maxEarlierPictures = 8

  private let session: Session
  private let output: EncodedOutput
  private let outcomes: Session.FrameOutcomeQueue
  private let maxFPS: Double?
  private var encoder: VideoEncoder?
  /// The memory of the encoder.
  private var memory: CodecMemory.Reservation?
  private var timeline = EncodingTimeline()
  /// The number of the last frame that was sent as it was received, or `nil` if the last one was
  /// encoded here.
  private var lastPassed: UInt64?
  private var wasProtected = false
  /// Whether the receiver lacks what the encoder's next frame would depend on.
  private var needsKeyFrame = true
  private var lastKeyFrame: Duration?
  /// The wished values, and the sizes to which the link has reduced them.
  private var wished: (target: EncoderTarget, sizes: Set<FrameSize>)?
  /// The last requested change of the size, and the number of pictures that may still have the
  /// earlier one.
  private var sizeChange = (number: 0, earlierPictures: 0)

  private var clock: SessionClock { self.session.engine.clock }

  /// - Parameter output: The named output whose pictures it encodes; `nil` for the session's own.
  init(session: Session, output: SessionOutput? = nil) {
    self.session = session
    self.output = output?.encoded ?? session.output
    self.outcomes = output?.outcomes ?? session.outcomes
    self.maxFPS = output?.maxFPS ?? session.options.maxFPS
  }

  /// Records that the last picture was not sent.
  func discard() {
    self.needsKeyFrame = true
  }

  /// An operator's override applies to the frame, which was encoded meanwhile.
  struct Overridden: Error {}

  /// The frame's budget was spent before it could be encoded.
  struct Late: Error {
    var lateness: Duration
  }

  /// Returns the message of a finished frame, encoded.
  ///
  /// - Throws: ``Overridden``; ``Late``; `CodecError`; `CancellationError`; the error of a message
  ///   that cannot be built.
  func picture(
    _ picture: UnencodedPicture, of finished: FinishedFrame<OutgoingFrame>,
    _ outcome: Sidelight_V1_FilteredFrame
  ) async throws -> OutgoingPicture {
    var outcome = outcome
    if let source = picture.source, self.passes(source, finished.sequence, to: picture.codec) {
      self.lastPassed = finished.sequence
      self.needsKeyFrame = true
      if source.header.isKeyFrame { self.recordKeyFrame() }
      outcome.image.describe(source)
      return try OutgoingPicture(passing: source.bytes, outcome: outcome)
    }
    if picture.source != nil { outcome.reencoded = true }
    return try await self.encode(picture, of: finished, outcome)
  }

  /// Returns whether a picture can be sent as it was received: the receiver has all that it depends
  /// on.
  private func passes(_ source: EncodedPicture, _ sequence: UInt64, to codec: VideoCodec) -> Bool {
    guard source.codec == codec, !self.output.shape.hasEncoderSettings else { return false }
    if source.header.isKeyFrame { return true }
    if self.isKeyFrameDue { return false }
    return self.lastPassed.map { sequence == $0 &+ 1 } ?? false
  }

  private func encode(
    _ picture: UnencodedPicture, of finished: FinishedFrame<OutgoingFrame>,
    _ outcome: Sidelight_V1_FilteredFrame
  ) async throws -> OutgoingPicture {
    let engine = self.session.engine
    let (clock, cost) = (self.clock, self.output.encodingCost)
    let limits = engine.admission.frameLimits
    let payload = finished.payload
    let start = payload.received
    do {
      let picture = try await self.converted(picture)
      let encoder = try self.encoder(for: picture)
      let forcesKeyFrame = self.forcesKeyFrame(for: picture)
      let time = self.timeline.advance(captureTime: outcome.captureTimeNs, arrival: start)
      engine.processing.scheduler.recordArrival(
        work: cost.work ?? Self.firstWork, session: self.session.handle.number)
      let budget = finished.deadline.map { $0 - start } ?? SessionWorker.defaultBudget
      // Named outputs and pictures that pass through may have had no turn.
      let hadTurn = picture.source == nil && self.output === self.session.output
      let (result, unit) = try await engine.processing.scheduler.withTurn(
        session: self.session.handle.number,
        deadline: start + budget / 2, cost: cost.work ?? Self.firstWork,
        kind: hadTurn ? .encoding : .frame, waitsOnComputeThread: true
      ) { _, _ in
        let begin = clock.now()
        if let deadline = finished.deadline, begin > deadline {
          throw Late(lateness: begin - deadline)
        }
        defer { cost.record(clock.now() - begin) }
        return try await payload.span.passObserver.pass(.encode(picture.codec)) {
          try encoder.withEncoded(picture.frame, forcesKeyFrame: forcesKeyFrame, at: time) {
            bytes, unit in
            var outcome = outcome
            outcome.image = Sidelight_V1_Image(picture, unit)
            let result = Result {
              try OutgoingPicture(compressed: bytes, outcome: outcome, limits: limits)
            }
            return (result, unit)
          }
        }
      }
      let encoded = try result.get()
      // The receiver must not see what an operator has forbidden meanwhile.
      guard self.session.mayWrite(finished, from: self.outcomes) else { throw Overridden() }
      self.lastPassed = nil
      self.wasProtected = picture.isProtected
      if unit.isKeyFrame { self.recordKeyFrame() }
      self.needsKeyFrame = false
      return encoded
    } catch let late as Late {
      throw late
    } catch {
      // The encoder may have a reference that the receiver will not get.
      self.needsKeyFrame = true
      if error is CodecError { self.encoder = nil }
      throw error
    }
  }

  /// Returns a picture with colours that the codec can state. Filters have them already; a picture
  /// that passes through may come from a codec with others.
  private func converted(_ picture: UnencodedPicture) async throws -> UnencodedPicture {
    guard picture.codec == .vp8, picture.frame.color != ColorDescription() else { return picture }
    let engine = self.session.engine
    let plan = try engine.compiler.catalogue.resolve([]).plan(
      for: picture.frame.geometry, as: FrameEncoding(format: .i420, color: ColorDescription()))
    var converted = picture
    converted.frame = try await engine.processing.executor.run(plan, on: picture.frame)
      .shown(picture.frame.orientation)
    return converted
  }

  private func recordKeyFrame() {
    self.lastKeyFrame = self.clock.now()
    self.output.recordKeyFrame()
  }

  /// Returns the encoder for a picture. Its size may change with any frame; the next frame is then
  /// a key frame.
  ///
  /// - Throws: `CodecError`, or RESOURCE_EXHAUSTED if the caller's codecs would exceed their memory.
  private func encoder(for picture: UnencodedPicture) throws -> VideoEncoder {
    let settings = self.settings(for: picture)
    if let encoder = self.encoder {
      if encoder.settings.isClose(to: settings) { return encoder }
      if encoder.settings.hasRatesOnlyChanged(from: settings) {
        try encoder.update(bitRate: settings.bitRate, frameRate: settings.frameRate)
        return encoder
      }
    }
    self.encoder = nil
    self.memory = nil
    self.memory = try self.session.rateLimiter.codecMemory.reserve(settings.memoryByteCount)
    let encoder = try VideoEncoder(settings)
    self.encoder = encoder
    self.needsKeyFrame = true
    return encoder
  }

  /// Returns the settings for a picture: the wished ones, reduced to what the link carries. A smaller
  /// size applies to frames that arrive later.
  private func settings(for picture: UnencodedPicture) -> VideoEncoderSettings {
    let size = picture.frame.size
    var settings = self.output.encoder.settings(
      for: picture.frame, picture.codec, maxFPS: self.maxFPS)
    let changes = self.output.sizeChanges
    if changes != self.sizeChange.number {
      self.sizeChange = (changes, Self.maxEarlierPictures)
      self.wished = nil
    }
    if self.sizeChange.earlierPictures > 0 {
      // It says nothing about the size that the client wishes now.
      self.sizeChange.earlierPictures -= 1
      return settings
    }
    var target = EncoderTarget(
      bitRate: settings.bitRate, width: size.width, height: size.height,
      frameRate: settings.frameRate)
    if let wished = self.wished, wished.sizes.contains(size) {
      // The picture was reduced before.
      (target.width, target.height) = (wished.target.width, wished.target.height)
      if !self.output.encoder.hasBitRate { target.bitRate = wished.target.bitRate }
    }
    if self.wished?.target != target { self.wished = (target, []) }
    let current = self.outcomes.adapt(target)
    let currentSize = FrameSize(width: current.width, height: current.height)
    let isReduced = (current.width, current.height) != (target.width, target.height)
    if isReduced { self.wished?.sizes.insert(currentSize) }
    self.output.adapt(to: isReduced ? currentSize : nil)
    settings.bitRate = current.bitRate
    settings.frameRate = current.frameRate
    return settings
  }

  /// Returns whether the next frame must be a key frame: where the receiver lacks a reference, at
  /// the start of protection, so that no part of an earlier picture shows through, and on request.
  private func forcesKeyFrame(for picture: UnencodedPicture) -> Bool {
    self.needsKeyFrame || (picture.isProtected && !self.wasProtected) || self.isKeyFrameDue
  }

  /// Whether the client has requested a key frame, and the last one is old enough.
  private var isKeyFrameDue: Bool {
    guard self.output.isKeyFrameRequested else { return false }
    return self.lastKeyFrame.map { self.clock.now() - $0 >= Self.requestInterval } ?? true
  }
}

/// The times of the frames that an encoder gets. They advance by the difference of the capture
/// times, so a file that arrives faster than it plays has the bit rate of its own time. Where the
/// client does not state them, or they go back or jump, they advance by the time between arrivals.
private struct EncodingTimeline {
  /// The longest time between frames that is not a jump of the client's clock.
  private static let maxStep = Duration.seconds(2)

  private var last: (time: Duration, capture: Int64, arrival: Duration)?

  /// Returns the time of the next frame, which is later than the last one.
  ///
  /// - Parameters:
  ///   - captureTime: The capture time in nanoseconds, or 0 if it is not known.
  ///   - arrival: The time of arrival.
  mutating func advance(captureTime: Int64, arrival: Duration) -> Duration {
    guard let last else {
      self.last = (arrival, captureTime, arrival)
      return arrival
    }
    let (difference, overflow) = captureTime.subtractingReportingOverflow(last.capture)
    let captured = Duration.nanoseconds(difference)
    let isUsable =
      captureTime != 0 && !overflow && captured > .zero && captured <= Self.maxStep
    // Encoders count in milliseconds.
    let step = max(isUsable ? captured : arrival - last.arrival, .milliseconds(1))
    self.last = (last.time + step, captureTime, arrival)
    return last.time + step
  }
}

extension Frame {
  /// The frame without its last column and row where their numbers are odd: H.264 with 4:2:0 has
  /// even sizes only.
  fileprivate var croppedToEvenSize: Frame {
    let size = FrameSize(
      width: max(2, self.size.width & ~1), height: max(2, self.size.height & ~1))
    guard size != self.size,
      let layout = try? FrameLayout(
        format: self.format, size: size, planes: self.layout.planes,
        available: self.buffer.byteCount)
    else { return self }
    return Frame(
      layout: layout, color: self.color, orientation: self.orientation, buffer: self.buffer)
  }
}

extension Drop {
  /// The drop of a finished frame that could not be encoded.
  init(videoFailure error: any Error) {
    if error is VideoWriter.Overridden {
      self.init(reason: .outputSuperseded, stage: .outbox)
    } else if error is VideoWriter.Late {
      self.init(reason: .lateOnOutput, stage: .outbox)
    } else {
      self.init(
        reason: .stageFailed, stage: .outbox,
        diagnostic: (error as? GoogleRPCStatus) ?? (error as? FieldViolation)?.status
          ?? GoogleRPCStatus(
            code: .internalError, message: "The frame cannot be encoded: \(error)"))
    }
  }
}

extension Sidelight_V1_Image {
  /// Describes an encoded picture, without its bytes.
  fileprivate init(_ picture: UnencodedPicture, _ unit: EncodedUnit) {
    self.init()
    self.describe(
      Sidelight_V1_PixelFormat(picture.codec), of: picture.frame.size,
      orientation: picture.frame.orientation)
    self.color = Sidelight_V1_ColorDescription(picture.frame.color, of: .i420)
    self.encoded.keyFrame = unit.isKeyFrame
    self.encoded.temporalLayer = UInt32(unit.temporalLayer)
  }

  /// Describes a picture that is sent as it was received. Its other fields are the client's own.
  fileprivate mutating func describe(_ picture: EncodedPicture) {
    self.width = UInt32(picture.header.size.width)
    self.height = UInt32(picture.header.size.height)
    self.encoded = .with {
      $0.keyFrame = picture.header.isKeyFrame
      $0.temporalLayer = UInt32(picture.header.temporalLayer ?? 0)
    }
  }
}

extension VideoEncoderSettings {
  /// Returns whether the settings are equal, except for a bit rate that differs by at most 3 %.
  fileprivate func isClose(to other: VideoEncoderSettings) -> Bool {
    var same = self
    same.bitRate = other.bitRate
    return same == other && abs(self.bitRate - other.bitRate) * 100 <= 3 * other.bitRate
  }

  /// Returns whether only the bit rate and the frame rate differ.
  fileprivate func hasRatesOnlyChanged(from other: VideoEncoderSettings) -> Bool {
    var same = self
    same.bitRate = other.bitRate
    same.frameRate = other.frameRate
    return same == other
  }
}
