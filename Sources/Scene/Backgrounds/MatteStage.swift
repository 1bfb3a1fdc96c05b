import SidelightKernels

/// The mattes of a session from a source that is fast enough for the frame's path: a plate, a key
/// or a model.
struct MatteStage: SceneStage {
  private var choice: MatteChoice
  private var smoothing: MatteSmoothing
  /// The source in its first state; `nil` before it is created, or if it cannot be created.
  private var initial: (any MatteSource)?
  private var source: (any MatteSource)?
  private var learner: PlateLearner?
  private var last: UprightPicture?
  private var estimate: MatteEstimate?
  /// The frames since the source ran.
  private var age = 0
  private var report = MatteReport()

  /// The interval in frames at which a model runs, and if the session is short of time.
  private static let modelInterval = 2
  private static let reducedModelInterval = 4

  init(_ choice: MatteChoice) {
    self.choice = choice
    self.smoothing = MatteSmoothing(weight: choice.smoothing)
    if case .plate(nil) = choice.kind { self.learner = PlateLearner() }
  }

  mutating func adopt(_ request: any SceneRequest) -> Bool {
    guard let other = (request as? BackgroundOperation)?.choice, self.choice.continues(other)
    else { return false }
    if case .key(let key) = other.kind, case .key(let own) = self.choice.kind, key != own {
      self.initial = nil
      self.source = nil
    }
    if other.smoothing != self.choice.smoothing {
      self.smoothing = MatteSmoothing(weight: other.smoothing)
    }
    self.choice = other
    return true
  }

  mutating func step(_ view: SceneView) async throws -> any Sendable {
    let picture = view.picture
    let isCut = self.last.map { last in
      picture.luma.meanChange(from: last.luma).map { $0 > LumaPicture.cutChange } ?? true
    }
    self.prepare(picture.color, isCut: isCut ?? true)
    self.last = picture
    let estimate = await self.estimate(view)
    self.learn(view, isUnsure: estimate?.isSure != true)
    // Between two scenes a matte may hold parts of either.
    guard let estimate, estimate.isSure, isCut != true || !self.choice.protects else {
      return BackgroundDrawing.unsure
    }
    return BackgroundDrawing.matte(self.smoothing.smooth(estimate, of: picture.color))
  }

  mutating func takeReport() -> [String: AnalysisValue]? { self.report.take() }

  /// Creates the source, and returns it to its first state after a cut.
  private mutating func prepare(_ picture: ColorPicture, isCut: Bool) {
    if let last = self.last?.color, last.width != picture.width || last.height != picture.height {
      // A plate is reduced like the frames.
      self.initial = nil
      self.learner = self.learner.map { _ in PlateLearner() }
    }
    if self.initial == nil {
      do {
        self.initial = try self.makeSource(for: picture)
        self.source = self.initial
      } catch {
        self.report.fail(error)
      }
    }
    guard isCut else { return }
    self.source = self.initial
    self.smoothing = MatteSmoothing(weight: self.choice.smoothing)
    self.estimate = nil
  }

  private func makeSource(for picture: ColorPicture) throws -> (any MatteSource)? {
    switch self.choice.kind {
    case .plate(let image): return image.map { PlateMatte(plate: $0.reduced(like: picture)) }
    case .key(let key): return KeyMatteSource(key)
    case .model(_, let make): return try make()
    case .portrait, .missing: return nil
    }
  }

  /// The matte of a picture, in its size; `nil` without a source.
  private mutating func estimate(_ view: SceneView) async -> MatteEstimate? {
    guard var source = self.source else { return nil }
    var interval = 1
    if case .model = self.choice.kind {
      interval = view.isReduced ? Self.reducedModelInterval : Self.modelInterval
    }
    self.age += 1
    if let estimate = self.estimate, self.age < interval { return estimate }
    self.age = 0
    do {
      let faces = view.faces?.faces.map { DetectedFace($0) } ?? []
      let picture = view.picture.color
      let found = try await source.matte(of: picture, faces: faces)
      self.source = source
      let estimate = found.resized(width: picture.width, height: picture.height)
      self.estimate = estimate
      self.report.recover()
      return estimate
    } catch {
      self.estimate = nil
      self.source = self.initial
      self.report.fail(error)
      return nil
    }
  }

  private mutating func learn(_ view: SceneView, isUnsure: Bool) {
    guard var learner = self.learner else { return }
    // A plate that fits is kept. One that does not is replaced only if a finder of faces sees that
    // the room is empty: a person may sit still.
    guard isUnsure, self.initial == nil || view.faces != nil else {
      learner.restart()
      self.learner = learner
      return
    }
    let plate = learner.add(view)
    if let progress = learner.takeProgress() {
      self.report.values["plateProgress"] = .number(progress)
    }
    if let plate {
      self.report.values["plateReady"] = .number(1)
      self.initial = PlateMatte(plate: plate)
      self.source = self.initial
      self.smoothing = MatteSmoothing(weight: self.choice.smoothing)
    }
    self.learner = learner
  }
}

extension DetectedFace {
  /// A tracked face, as sources of mattes take it.
  init(_ face: TrackedFace) {
    self.init(
      center: face.rawBox.center, size: face.rawBox.size, roll: face.rawBox.roll,
      confidence: face.confidence)
  }
}

extension MatteEstimate {
  /// The matte in another size, interpolated linearly.
  func resized(width: Int, height: Int) -> MatteEstimate {
    guard width != self.width || height != self.height else { return self }
    let columns = (0 ..< width).map { x in
      FrameReduction.place(
        (Double(x) + 0.5) * Double(self.width) / Double(width) - 0.5, 1, self.width)
    }
    var values: [Float] = []
    values.reserveCapacity(width * height)
    for y in 0 ..< height {
      let row = FrameReduction.place(
        (Double(y) + 0.5) * Double(self.height) / Double(height) - 0.5, 1, self.height)
      let (upper, lower) = (row.cell * self.width, row.next * self.width)
      let down = Float(row.fraction)
      for column in columns {
        let right = Float(column.fraction)
        let above =
          self.values[upper + column.cell] * (1 - right)
          + self.values[upper + column.next] * right
        let below =
          self.values[lower + column.cell] * (1 - right)
          + self.values[lower + column.next] * right
        values.append(above * (1 - down) + below * down)
      }
    }
    return MatteEstimate(width: width, height: height, values: values, isSure: self.isSure)
  }
}

extension ImageAsset {
  /// The image on black, fitted into a picture of the same size as another one.
  func reduced(like picture: ColorPicture) -> ColorPicture {
    let size = FrameSize(width: picture.width, height: picture.height)
    let image = self.placed(
      x: 0, y: 0, width: Double(size.width), height: Double(size.height), fit: .fill, in: size,
      .sRGBGamma)
    var samples: [UInt8] = []
    samples.reserveCapacity(3 * size.pixelCount)
    for y in 0 ..< size.height {
      for x in 0 ..< size.width {
        let pixel = image?.pixel(x, y) ?? .zero
        for channel in 0 ..< 3 {
          samples.append(UInt8(min(max(pixel[channel] * 255 + 0.5, 0), 255)))
        }
      }
    }
    return ColorPicture(width: size.width, height: size.height, samples: samples)
  }
}
