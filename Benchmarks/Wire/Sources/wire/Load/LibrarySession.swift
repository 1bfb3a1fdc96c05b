import SidelightClient

/// A session of the client library.
struct LibrarySession: Sendable {
  let options: LoadOptions
  let picture: Frame
  let recorder: SessionRecorder
  let barrier: SessionBarrier
  /// The part of an interval by which this session is later than the first, 0 ..< 1.
  let phase: Double
  /// The slots that contain the picture.
  private let filled = FilledSlots()

  /// Sends until the run is over, then waits for the frames in flight.
  func run(_ client: SidelightClient) async throws {
    try await client.withSession(self.sessionOptions) { session in
      if self.options.sharedMemory, !session.usesSharedMemory { throw NoSharedMemory() }
      let ready = self.options.sharedMemory ? nil : try self.copy(in: session)
      self.barrier.open()
      guard !self.options.isIdle else { return await self.barrier.waitUntilOver() }
      guard let rate = self.options.framesPerSecond else {
        // Like the peers, whose clients answer on the thread that reads.
        return try await withTaskExecutorPreference(session.executor) {
          try await self.pingPong(session, ready)
        }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await self.pace(session, ready, rate) }
        for try await outcome in session.outcomes { try self.note(outcome) }
        while try await group.next() != nil {}
      }
    }
  }

  private var sessionOptions: SessionOptions {
    var options = SessionOptions(
      pipeline: self.options.work.pipeline, allowUnmodified: false, sharedMemory: nil)
    if self.options.sharedMemory {
      // The frames in flight, one that waits at the server, and one that is being released.
      let slots = self.options.inFlight + 2
      options.sharedMemory = SharedMemoryOptions(
        slotBytes: self.slotBytes, inputSlots: slots, outputSlots: slots)
    }
    if self.options.framesPerSecond == nil {
      options.dropPolicy = .neverDrop
      options.mailboxDepth = self.options.inFlight
    }
    return options
  }

  /// Sends the next frame when one returns.
  private func pingPong(_ session: FilterSession, _ ready: Frame?) async throws {
    for _ in 0 ..< self.options.inFlight { try await self.send(session, ready) }
    for try await outcome in session.outcomes {
      try self.note(outcome)
      if self.barrier.isOver {
        session.finish()
      } else {
        try await self.send(session, ready)
      }
    }
  }

  private func pace(_ session: FilterSession, _ ready: Frame?, _ rate: Double) async throws {
    let interval = Duration.seconds(1) / rate
    // Sessions start at different times within an interval, to avoid sending simultaneously.
    var due = ContinuousClock.now + interval * self.phase
    while !self.barrier.isOver {
      try await Task.sleep(until: due, tolerance: .zero)
      try await self.send(session, ready)
      due += interval
    }
    session.finish()
  }

  /// - Parameter ready: The picture, ready to be sent; `nil` uses a slot.
  private func send(_ session: FilterSession, _ ready: Frame?) async throws {
    let picture = try ready ?? self.picture(in: session)
    self.recorder.send()
    await session.send(VideoFrame(picture))
  }

  /// Copies the picture into a frame of the session, as a camera would write it there.
  private func copy(in session: FilterSession) throws -> Frame {
    var frame = try session.makeFrame(self.options.geometry)
    Picture.copy(self.picture, into: &frame)
    return frame.finish()
  }

  private var slotBytes: Int {
    // Room for aligned strides, which filters prefer.
    let geometry = self.options.geometry
    let layout = try? FrameLayout(aligned: geometry.format, size: geometry.size)
    return layout?.byteCount ?? self.picture.layout.byteCount
  }

  /// Returns the picture in a slot. It is written when the slot is first used, as a camera would
  /// write it; later uses find it there, like inline pictures.
  private func picture(in session: FilterSession) throws -> Frame {
    var frame = try session.makeFrame(self.options.geometry)
    let address = frame.withMutableRow(0) { row in
      row.withUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) }
    }
    if self.filled.insert(address) { Picture.copy(self.picture, into: &frame) }
    return frame.finish()
  }

  private func note(_ outcome: FrameOutcome) throws {
    guard case .filtered(let frame) = outcome else { return self.recorder.drop() }
    self.recorder.arrive(work: frame.processTime)
    guard frame.sequence == 1, self.options.work == .none else { return }
    guard frame.picture.frame.map(Picture.bytes) == Picture.bytes(self.picture) else {
      throw WrongPicture()
    }
  }
}
