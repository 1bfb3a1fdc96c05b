import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// A frame on its way to the mailbox in a session with encoded video.
enum DecodingJob: Sendable {
  /// A frame to decode, if it is encoded, and to offer to the mailbox. With a drop it ends after
  /// decoding: later frames depend on it.
  case frame(IncomingFrame, Drop?)
  /// A frame that was dropped on arrival; the reason is `nil` if no other frame depends on it.
  case dropped(sequence: UInt64, KeyFrameReason?)
}

/// Decodes the frames of a session in front of the mailbox, in the order of arrival.
///
/// Later frames depend on earlier ones, so a frame is decoded even if it is then dropped; only a
/// disposable frame is dropped undecoded, if it is late or if a frame waits already. If decoding
/// alone exceeds the budgets, the worker skips to the next key frame, and asks for it.
struct DecodingWorker: ~Copyable {
  /// The shortest time between two announcements that a key frame is needed.
  private static let announcementInterval = Duration.milliseconds(500)

  private let session: Session
  private var tracker = ReferenceTracker()
  private var decoder: (codec: VideoCodec, decoder: VideoDecoder)?
  /// The memory of the decoder.
  private var memory: (codec: VideoCodec, size: FrameSize, reservation: CodecMemory.Reservation)?
  private let cost = CostEstimate(priorWork: .milliseconds(5))
  private var lastAnnouncement: Duration?
  /// The time since when all frames have been late before they were decoded.
  private var lateSince: Duration?

  private var clock: SessionClock { self.session.engine.clock }
  private var resolver: FrameResolver { self.session.resolver }

  init(session: Session) {
    self.session = session
  }

  /// Runs until the queue of jobs is finished and empty, or the task is cancelled. Then the mailbox
  /// is finished.
  mutating func run() async {
    defer { self.session.mailbox.finish() }
    while let job = await self.session.decodingJobs.next() {
      switch job {
      case .dropped(let sequence, nil): self.tracker.recordSkipped(sequence)
      case .dropped(let sequence, let reason?):
        self.tracker.recordMissing(reason)
        self.announce(reason, at: sequence)
      case .frame(let frame, let drop):
        guard case .video(let picture) = frame.picture else {
          self.tracker.recordSkipped(frame.message.sequence)
          await self.offer(frame)
          continue
        }
        await self.process(frame, picture, drop)
      }
      if Task.isCancelled { return }
    }
  }

  private mutating func process(
    _ frame: IncomingFrame, _ picture: EncodedPicture, _ drop: Drop?
  ) async {
    let (sequence, header) = (frame.message.sequence, picture.header)
    let reason = self.tracker.check(
      sequence, isKeyFrame: header.isKeyFrame,
      dependencies: frame.message.image.encoded.dependsOn)
    if let reason {
      self.announce(reason, at: sequence)
      return self.resolver.drop(frame, Drop(reason: .notDecodable, stage: .arrival))
    }
    if let late = self.drop(forLateness: frame, header) {
      return self.resolver.drop(frame, late)
    }
    if let reason = self.session.reasonToSkip(frame, header) { return self.skip(frame, reason) }
    do throws(GoogleRPCStatus) {
      try self.reserveMemory(for: picture)
    } catch {
      self.recordFailure(at: sequence)
      return self.resolver.drop(
        frame, Drop(reason: .rateLimited, stage: .mailbox, diagnostic: error))
    }
    do {
      guard let decoded = try await self.decode(frame, picture) else { return }
      self.tracker.recordDecoded(sequence, isKeyFrame: header.isKeyFrame)
      self.resolver.decodingErrors.reset()
      frame.samples?.resolve(.decoded(decoded))
      guard drop == nil, !self.isLate(frame) else {
        return self.resolver.drop(
          frame, drop ?? Drop(reason: .lateInPipeline, stage: .mailbox))
      }
      var frame = frame
      frame.picture = .video(picture.decoded(as: decoded))
      await self.offer(frame)
    } catch {
      frame.span.record(error)
      frame.samples?.resolve(.unreadable)
      self.recordFailure(at: sequence)
      self.resolver.drop(frame, undecodable: error.violation(in: frame.message.image))
    }
  }

  /// A frame was not decoded.
  private struct Skipped: Error {
    var reason: DropReason
  }

  /// Drops a frame on which no other depends, undecoded.
  private mutating func skip(_ frame: IncomingFrame, _ reason: DropReason) {
    self.tracker.recordSkipped(frame.message.sequence)
    self.resolver.drop(frame, Drop(reason: reason, stage: .mailbox))
  }

  /// Releases the decoder after a frame that was not decoded.
  private mutating func recordFailure(at sequence: UInt64) {
    self.decoder = nil
    self.memory = nil
    self.tracker.recordMissing(.damage)
    self.announce(.damage, at: sequence)
  }

  /// Reserves the memory that the decoder takes for a picture's size.
  ///
  /// - Throws: RESOURCE_EXHAUSTED if the caller's codecs would exceed their memory.
  private mutating func reserveMemory(for picture: EncodedPicture) throws(GoogleRPCStatus) {
    let (codec, size) = (picture.codec, picture.header.size)
    if let memory = self.memory, memory.codec == codec, memory.size == size { return }
    // The decoder of the earlier size ends.
    self.decoder = nil
    self.memory = nil
    let reservation = try self.session.rateLimiter.codecMemory.reserve(
      VideoDecoder.memoryByteCount(codec, of: size))
    self.memory = (codec, size, reservation)
  }

  /// Decodes a frame on a compute thread.
  ///
  /// - Returns: `nil` if the task was cancelled, or if the frame was dropped when its turn came.
  private mutating func decode(
    _ frame: IncomingFrame, _ picture: EncodedPicture
  ) async throws(PictureCodec.Unreadable) -> Frame? {
    let engine = self.session.engine
    let codec = picture.codec
    let (session, cost, clock) = (self.session, self.cost, self.clock)
    let number = self.session.handle.number
    engine.processing.scheduler.recordArrival(work: cost.expected ?? .zero, session: number)
    let result: Result<Frame, CodecError>
    do {
      let decoder = try self.decoder(for: codec)
      // Half of the budget is for filtering and encoding: if all work were done at its deadline,
      // frames would be late when they have been decoded.
      let budget = frame.deadline.map { $0 - frame.received } ?? SessionWorker.defaultBudget
      result = try await engine.processing.scheduler.withTurn(
        session: number, deadline: frame.received + budget / 2, cost: cost.work,
        waitsOnComputeThread: true
      ) { _, _ in
        if let reason = session.reasonToSkip(frame, picture.header) {
          throw Skipped(reason: reason)
        }
        let start = clock.now()
        defer { cost.record(clock.now() - start) }
        return try await frame.span.passObserver.pass(.decode(codec)) {
          Result { () throws(CodecError) in
            try picture.bytes.withFile { unit throws(CodecError) in try decoder.decode(unit) }
          }
        }
      }
    } catch let skipped as Skipped {
      self.skip(frame, skipped.reason)
      return nil
    } catch let error as CodecError {
      result = .failure(error)
    } catch {
      // The task was cancelled, or the turn was not granted.
      return nil
    }
    switch result {
    case .success(let decoded):
      let decoded = codec == .vp8 ? decoded.colored(picture.header.color) : decoded
      // The pipeline was compiled for the header's form. The decoder knows the parameter sets of
      // decoded frames only; the reader of headers has also read frames that were refused.
      guard decoded.geometry == picture.form.geometry else {
        throw PictureCodec.Unreadable(
          error: CodecError(
            .corrupt, "its parameter sets came with a frame that was not decoded; repeat them"))
      }
      return decoded.shown(picture.form.orientation)
    case .failure(let error): throw PictureCodec.Unreadable(error: error)
    }
  }

  private mutating func decoder(for codec: VideoCodec) throws(CodecError) -> VideoDecoder {
    if let current = self.decoder, current.codec == codec { return current.decoder }
    let processing = self.session.engine.processing
    let decoder = try VideoDecoder(
      codec: codec, pool: processing.pool, limits: processing.codec.limits)
    self.decoder = (codec, decoder)
    return decoder
  }

  // MARK: Lateness

  private func isLate(_ frame: IncomingFrame) -> Bool {
    frame.deadline.map { self.clock.now() > $0 } ?? false
  }

  /// Returns the drop of a frame that need not be decoded because it is late, if it is.
  private mutating func drop(forLateness frame: IncomingFrame, _ header: VideoHeader) -> Drop? {
    guard let deadline = frame.deadline, self.isLate(frame), !header.isKeyFrame else {
      self.lateSince = nil
      return nil
    }
    let now = self.clock.now()
    if header.isDisposable {
      self.tracker.recordSkipped(frame.message.sequence)
      return Drop(reason: .lateInPipeline, stage: .mailbox)
    }
    let lateSince = self.lateSince ?? now
    self.lateSince = lateSince
    guard now - lateSince > deadline - frame.received else { return nil }
    self.lateSince = nil
    self.tracker.recordMissing(.tooSlow)
    self.announce(.tooSlow, at: frame.message.sequence)
    return Drop(reason: .notDecodable, stage: .mailbox)
  }

  // MARK: Results

  private func offer(_ frame: IncomingFrame) async {
    for displaced in await self.session.mailbox.offer(frame) {
      self.resolver.drop(
        displaced.element, Drop(reason: displaced.reason, stage: .mailbox))
    }
  }

  private mutating func announce(_ reason: KeyFrameReason, at sequence: UInt64) {
    let now = self.clock.now()
    if let last = self.lastAnnouncement, now - last < Self.announcementInterval { return }
    self.lastAnnouncement = now
    self.session.outcomes.push(
      .message(
        .with {
          $0.keyFrameNeeded.sequence = sequence
          $0.keyFrameNeeded.reason = Sidelight_V1_KeyFrameReason(reason)
        }))
  }
}

extension Session {
  /// Returns why decoding a frame on which no other depends is of no use, if it is not: the picture
  /// would displace a decoded one, or be late when it is encoded.
  fileprivate func reasonToSkip(_ frame: IncomingFrame, _ header: VideoHeader) -> DropReason? {
    guard header.isDisposable, !frame.message.mustProcess, self.options.dropPolicy == .newestWins
    else { return nil }
    guard self.mailbox.hasRoom else { return .superseded }
    guard let deadline = frame.deadline, let full = frame.compiledPipeline else { return nil }
    let compiled = self.quality.isReduced ? full.cheaperVariant ?? full : full
    let now = self.engine.clock.now()
    let rest = (compiled.cost.expected ?? .zero) + self.output.expectedEncoding(of: compiled)
    guard now + rest > deadline else { return nil }
    if now <= deadline {
      compiled.cost.recordRefusal()
      self.output.encodingCost.recordRefusal()
    }
    return .lateInPipeline
  }
}

extension PassDescription {
  /// The decoding of an encoded picture.
  static func decode(_ codec: VideoCodec) -> PassDescription {
    PassDescription(
      filters: ["\(codec.rawValue)Decode"], kind: .codec, summary: "\(codec.name) decoded")
  }

  /// The encoding of a picture.
  static func encode(_ codec: VideoCodec) -> PassDescription {
    PassDescription(
      filters: ["\(codec.rawValue)Encode"], kind: .codec, summary: "encoded as \(codec.name)")
  }
}
