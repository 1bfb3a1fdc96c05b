import SidelightKernels

/// Makes pipelines of every shape, the same ones on every machine.
struct RandomPipelines: RandomNumberGenerator {
  private var state: UInt64
  private var budget = 0

  init(seed: UInt64) {
    self.state = seed
  }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var z = self.state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func pipeline() -> Pipeline {
    self.budget = Pipeline.maxStages
    return self.pipeline(depth: 1)
  }

  private mutating func pipeline(depth: Int) -> Pipeline {
    var stages: [Stage] = []
    for _ in 0 ..< self.upTo(4) where self.budget > 0 {
      self.budget -= 1
      stages.append(self.stage(depth: depth))
    }
    return Pipeline(
      stages: stages, workingSpace: self.oneIn(4) ? WorkingSpace.allCases[self.upTo(1)] : nil)
  }

  private mutating func stage(depth: Int) -> Stage {
    let content: Stage.Content
    if depth < Pipeline.maxDepth, self.oneIn(3) {
      content = .pipeline(self.pipeline(depth: depth + 1))
    } else {
      var parameters: [String: ParameterValue] = [:]
      for _ in 0 ..< self.upTo(3) { parameters[self.name()] = self.value() }
      content = .filter(FilterCall(name: self.name(), parameters: parameters))
    }
    return Stage(
      content, id: self.oneIn(3) ? self.name() : nil, isActive: !self.oneIn(4),
      mix: self.oneIn(3) ? self.number() : 1,
      region: self.oneIn(4)
        ? Region(origin: self.point(), width: self.length(), height: self.length()) : nil)
  }

  private mutating func value() -> ParameterValue {
    switch self.upTo(6) {
    case 0: .number(self.number())
    case 1: .length(self.length())
    case 2: .point(self.point())
    case 3:
      .color(
        RGBAColor(
          red: self.channel(), green: self.channel(), blue: self.channel(),
          alpha: self.oneIn(2) ? 1 : self.channel()))
    case 4: .vector((0 ..< self.upTo(10)).map { _ in self.number() })
    case 5: .flag(self.oneIn(2))
    default: .text(self.name())
    }
  }

  private mutating func name() -> String {
    let words = [
      "sepiaTone", "CISepiaTone", "a", "_x-1.y", "true", "false", "nan", "color", "px", "off", "e5",
      "inf", "", "1a", "a b", "\"", "\\", "n\n\r\t\u{0}\u{7f}\u{85}\u{2028}", "é", "👩‍👩‍👧",
      "\u{301}", "@mix(1)", "a:b", "[x]", "#ff0000", "12px", "-", " a ", "\r\n",
    ]
    return words[self.upTo(words.count - 1)]
  }

  private mutating func number() -> Double {
    switch self.upTo(5) {
    case 0: Double(self.upTo(2000)) - 1000
    case 1: Double.random(in: -1 ... 1, using: &self)
    case 2: Double.random(in: -1e9 ... 1e9, using: &self)
    case 3:
      [0, -0.0, 1e-7, 1e21, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity][
        self.upTo(6)]
    case 4: -Double.infinity
    default:
      // Any finite bit pattern.
      Double(bitPattern: self.next() & ~(1 << 52))
    }
  }

  private mutating func channel() -> Double {
    self.oneIn(3) ? self.number() : Double(self.upTo(255)) / 255
  }

  private mutating func length() -> Length {
    Length(self.number(), Length.Unit.allCases[self.upTo(3)])
  }

  private mutating func point() -> FramePoint {
    FramePoint(x: self.length(), y: self.length())
  }

  private mutating func upTo(_ most: Int) -> Int { Int.random(in: 0 ... most, using: &self) }

  private mutating func oneIn(_ count: Int) -> Bool { self.upTo(count - 1) == 0 }
}
