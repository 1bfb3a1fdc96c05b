import SidelightKernels
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf

/// Writes scripts: the actions that a client may take, in a random order.
struct ModelScriptWriter {
  private var dice: SeededRandom
  private var nextSequence: UInt64 = 1
  private var nextRequest: UInt64 = 1
  private var hasBudgets = false

  /// The script of a seed.
  static func script(seed: UInt64) -> ModelScript {
    var writer = ModelScriptWriter(dice: SeededRandom(seed: seed))
    return writer.script(seed: seed)
  }

  private init(dice: SeededRandom) {
    self.dice = dice
  }

  private mutating func script(seed: UInt64) -> ModelScript {
    var script = ModelScript(seed: seed)
    self.hasBudgets = self.dice.chance(0.4)
    script.opening = self.opening()
    // A client that is delayed for frames beyond its credit cannot acknowledge.
    let mayBeHeldBack = script.opening.dropPolicy == .neverDrop && script.opening.outputWindow > 0
    script.isPatient = self.dice.chance(0.5) || mayBeHeldBack
    script.acknowledgesAtOnce = self.dice.chance(0.5)
    let errorRate = self.dice.pick(0, 0, 0.02, 0.05, 0.2, 0.7)
    for _ in 0 ..< self.dice.pick(5, 60, 250, 250) {
      script.steps.append(self.step(errorRate: errorRate))
    }
    if self.dice.chance(0.3) { script.steps.append(.settle) }
    script.ending =
      switch self.dice.number(0 ... 19) {
      case 0 ... 3: .reset
      case 4: .secondOpen
      case 5: .emptyMessage
      default: .halfClose
      }
    return script
  }

  private mutating func opening() -> ModelScript.Opening {
    let pipeline = self.pipeline()
    let dropPolicy = self.dice.pick(
      ModelScript.DropPolicy.newestWins, .newestWins, .keepOldest, .neverDrop)
    return ModelScript.Opening(
      pipeline: pipeline, dropPolicy: dropPolicy,
      mailboxDepth: self.dice.pick(0, 0, 1, 2, 5, 64),
      budget: self.hasBudgets ? self.dice.pick(0, 400, 2000, 100_000, 60_000_000) : 0,
      allowUnmodified: self.dice.chance(0.3),
      analysisOnly: self.dice.chance(0.05),
      failurePolicy: self.dice.pick(.passThrough, .passThrough, .drop, .blur),
      maxFPS: dropPolicy == .neverDrop ? 0 : self.dice.pick(0, 0, 0, 0, 0, 30, 1000, 1000),
      hasStatsInterval: self.dice.chance(0.2),
      outputWindow: self.dice.pick(0, 0, 1, 2, 5),
      slots: self.dice.pick(0, 0, 0, 1, 3, 8))
  }

  private mutating func step(errorRate: Double) -> ModelScript.Step {
    switch self.dice.number(0 ... 99) {
    case 0 ..< 80: self.frame(isSound: !self.dice.chance(errorRate))
    case 80 ..< 88: self.change(isSound: !self.dice.chance(errorRate))
    case 88: .pause(passThrough: self.dice.chance(0.5))
    case 89 ... 91: .resume
    case 92 ... 93: .ping(id: self.dice.next())
    case 94: .unknownKind
    case 95: .staleAck
    case 96 ... 97: .settle
    default: .pauseReading(steps: self.dice.number(1 ... 40))
    }
  }

  // MARK: Frames

  private mutating func frame(isSound: Bool) -> ModelScript.Step {
    // An error in frames of samples need not be one in files.
    var frame = Sidelight_V1_Frame.with { $0.image = isSound ? self.image() : self.samples() }
    self.nextSequence += UInt64(self.dice.pick(0, 0, 0, 1, 1000))
    frame.sequence = self.nextSequence
    frame.captureTimeNs = Int64(truncatingIfNeeded: self.dice.next())
    frame.rtpTimestamp = UInt32(truncatingIfNeeded: self.dice.next())
    frame.priority = Int32(self.dice.pick(0, 0, 0, -3, 2, 7))
    frame.mustProcess = self.dice.chance(0.1)
    if self.hasBudgets, self.dice.chance(0.3) {
      frame.budgetUs = self.dice.pick(0, 1, 300, 5000, .max)
    }
    if self.dice.chance(0.1) { frame.tags = ["where": "there", "": "\(self.dice.next())"] }
    if self.dice.chance(0.1) { frame.trace.traceparent = self.dice.pick("00-ab", "\u{2603}", "") }
    guard !isSound else {
      self.nextSequence += 1
      return .frame(frame, isSound: true)
    }
    if self.dice.chance(0.3) {
      // Numbers that were used already, in frames that are otherwise valid. Never 0, which stale
      // acknowledgements name.
      frame.sequence = max(1, self.dice.pick(1, frame.sequence / 2, frame.sequence - 1))
      return .frame(frame, isSound: true)
    }
    self.nextSequence += 1
    (BadFrame.allCases.randomElement(using: &self.dice) ?? .noFormat).spoil(&frame)
    return .frame(frame, isSound: false)
  }

  private mutating func image() -> Sidelight_V1_Image {
    guard self.dice.chance(0.1), let file = self.file() else { return self.samples() }
    return file
  }

  private mutating func file() -> Sidelight_V1_Image? {
    let (width, height) = (self.dice.number(1 ... 40), self.dice.number(1 ... 40))
    var image = try? Sidelight_V1_Image.jpeg(
      width, height, quality: self.dice.number(1 ... 100), seed: self.dice.number(0 ... 255))
    image?.width = UInt32(width)
    image?.height = UInt32(height)
    return image
  }

  private mutating func samples() -> Sidelight_V1_Image {
    let format = PixelFormat.allCases.randomElement(using: &self.dice) ?? .bgra8
    let isLarger = self.dice.chance(0.02)
    var image = Sidelight_V1_Image.noise(
      format, self.dice.number(1 ... (isLarger ? 200 : 24)),
      self.dice.number(1 ... (isLarger ? 120 : 24)),
      padding: self.dice.pick(0, 0, 0, 5), seed: self.dice.next())
    if self.dice.chance(0.1) {
      image.orientation.rotation = self.dice.pick(.rotation90, .rotation180)
      image.orientation.mirrored = self.dice.chance(0.5)
    }
    return image
  }

  // MARK: Changes

  private mutating func change(isSound: Bool) -> ModelScript.Step {
    let change: ModelChange =
      switch self.dice.number(0 ... 9) {
      case 0 ... 3:
        isSound
          ? .select(self.pipeline())
          : .invalidSelect(
            ModelChange.InvalidSelect.allCases.randomElement(using: &self.dice) ?? .noContent)
      // The model decides whether the stage exists and has the parameter.
      case 4 ... 6: .update(stage: self.dice.pick("a", "b", "c"), by: self.dice.number(0 ... 255))
      default:
        .activate(
          self.dice.chance(0.5)
            ? [self.dice.pick("a", "b", "c"): self.dice.chance(0.6)]
            : ["a": self.dice.chance(0.6), "b": self.dice.chance(0.6)])
      }
    self.nextRequest += 1
    return .change(
      change, self.dice.pick(.none, .none, .met, .unmet), requestID: self.nextRequest)
  }

  private mutating func pipeline() -> ModelPipeline {
    var pipeline = ModelPipeline()
    for id in ["a", "b", "c"] where self.dice.chance(0.5) {
      let content: ModelPipeline.Stage.Content =
        switch self.dice.number(0 ... 9) {
        // A failure names its filter; of two, the stricter policy counts.
        case 0 where !pipeline.stages.contains(where: { $0.content == .broken }): .broken
        // Two of them would fold away.
        case 1 ... 4 where !pipeline.stages.contains(where: { $0.content == .invert }): .invert
        default:
          .shift(by: self.dice.number(0 ... 255), rounds: self.dice.pick(0, 0, 20_000, 800_000))
        }
      pipeline.stages.append(
        ModelPipeline.Stage(
          id: id, content: content, isActive: self.dice.chance(0.8),
          failurePolicy: self.dice.pick(nil, nil, .passThrough, .drop, .blur)))
    }
    return pipeline
  }
}
