import CKernels
import SidelightKernels

/// The order of a graph's operations, and the slots of their results.
///
/// Unused operations are left out. A product that is only added to another number is one step with
/// the addition. A step may write its result instead of an operand that later steps don't read, and
/// the results of the program where the strip's channels are.
struct KernelSchedule {
  /// The steps on single numbers, followed by the steps on rows.
  private(set) var steps: [sl_kernel_step] = []
  private(set) var singleStepCount = 0
  /// The inputs that are rows.
  private(set) var inputs: [KernelGraph.Input] = []
  private(set) var constants: [Float] = []
  private(set) var rowCount = 0
  private(set) var singleCount = 0
  private(set) var nanosecondsPerPixel = 0.0
  /// The maximum distance of computed reads of the picture from the pixel; 0 without reads, and
  /// infinite if it is not known.
  private(set) var readDistance = 0.0
  /// Whether there are computed reads of the picture.
  private(set) var readsPicture = false
  /// Whether steps read the strip's channels, as opposed to only writing them.
  private(set) var readsChannels = false
  /// Whether the slots fit the C rows.
  private(set) var fits = true

  /// The position of a number, before slots are numbered.
  private enum Place: Hashable {
    case channel(Int)
    case input(Int)
    case row(Int)
    case constant(Int)
    /// The strip's column, then the row, the time and the frame.
    case singleInput(Int)
    case single(Int)

    /// The number of a row; `nil` for other positions.
    var row: Int? {
      if case .row(let row) = self { row } else { nil }
    }

    var isSingle: Bool {
      switch self {
      case .channel, .input, .row: false
      case .constant, .singleInput, .single: true
      }
    }
  }

  private struct Step {
    var operation: KernelOperation
    var out: Place
    var operands: [Place]
    /// The picture of a read, and the positions of its channels after the first.
    var read: (picture: Int, others: [Place])?
    /// The weights of a sum of the operands.
    var weights: [Place]?
  }

  /// An operation of the graph, with an addition and its product as one, a weighted sum of rows, or
  /// a read.
  private struct Work {
    var node: KernelGraph.Index
    var operation: KernelOperation
    var operands: [KernelGraph.Index]
    /// The picture of a read.
    var picture: Int?
    /// The weights of a sum of the operands; `nil` for a weight of 1.
    var weights: [KernelGraph.Index?]?

    /// The estimated time of one number with AVX2, in nanoseconds.
    var nanoseconds: Double {
      self.weights.map { 0.03 + 0.04 * Double($0.count) } ?? self.operation.nanoseconds
    }
  }

  /// The estimated time of a step on single numbers, which runs once per strip of pixels.
  private static let singleStepNanoseconds = 12.0
  /// The estimated time of a read with AVX2, if its distance from the pixel is bounded, and else.
  private static let readNanoseconds = (near: 1.5, far: 4.0)
  /// The maximum distance of reads that mostly find their pixels in the second-level cache.
  private static let nearDistance = 64.0

  private let graph: KernelGraph
  /// The column and the row of the pixel's centre.
  private let position: [KernelGraph.Index]
  private var places: [KernelGraph.Index: Place] = [:]
  /// The positions of the channels of pixels.
  private var pixelPlaces: [KernelGraph.Index: [Place]] = [:]
  /// The constants by their bits: NaN is not equal to itself.
  private var constantPlaces: [UInt32: Int] = [:]
  private var freeRows: [Int] = []

  init(_ compiled: KernelCompiler.Compiled) {
    self.graph = compiled.graph
    self.position = compiled.position
    // A channel that does not change is not written.
    let results = compiled.results.enumerated().filter { channel, node in
      compiled.graph.nodes[node] != .input(.channel(channel))
    }
    let work = self.work(for: results.map(\.element))
    self.readDistance = work.filter { $0.picture == 0 }.map(self.distance).max() ?? 0
    self.readsChannels =
      compiled.results.contains { self.isChannel($0) }
      || work.contains { $0.operands.contains(where: self.isChannel) }
    self.readsPicture = work.contains { $0.picture == 0 }
    var list: [Step] = []
    for item in work where self.isSingle(item.node) {
      let place = Place.single(self.singleCount)
      self.singleCount += 1
      let operands = item.operands.map { self.place($0) }
      self.places[item.node] = place
      list.append(Step(operation: item.operation, out: place, operands: operands))
      self.nanosecondsPerPixel += Self.singleStepNanoseconds / Double(Strip.capacity)
    }
    self.singleStepCount = list.count
    self.schedule(
      work.filter { !self.isSingle($0.node) }, results.map { ($0.offset, $0.element) }, &list)
    self.number(list)
  }

  private func isChannel(_ node: KernelGraph.Index) -> Bool {
    if case .input(.channel) = self.graph.nodes[node] { true } else { false }
  }

  private func isSingle(_ node: KernelGraph.Index) -> Bool {
    self.graph.variability[node] != .pixel
  }

  // MARK: Choice of operations

  /// The distance of a read from the pixel; infinite if it is not known.
  private func distance(_ read: Work) -> Double {
    self.graph.distance(of: (read.operands[0], read.operands[1]), from: self.position)
  }

  /// Returns the operations that results need, in the order of the graph.
  private func work(for results: [KernelGraph.Index]) -> [Work] {
    var uses = Array(repeating: 0, count: self.graph.nodes.count)
    for result in results { uses[result] += 2 }
    for index in self.graph.nodes.indices.reversed() where uses[index] > 0 {
      for operand in self.operands(index) { uses[operand] += 1 }
    }
    var absorbed: Set<KernelGraph.Index> = []
    var list: [Work] = []
    for index in self.graph.nodes.indices.reversed() where uses[index] > 0 {
      if case .read(let picture, let x, let y) = self.graph.nodes[index] {
        list.append(Work(node: index, operation: .copy, operands: [x, y], picture: picture))
        continue
      }
      guard !absorbed.contains(index),
        case .operation(let operation, let a, let b, _) =
          self.graph.nodes[index]
      else { continue }
      if operation == .add, let sum = self.sum(index, uses, &absorbed) {
        list.append(sum)
      } else if operation == .add, !self.isSingle(index),
        let product = [b, a].first(where: { self.isProduct($0) && uses[$0] == 1 })
      {
        absorbed.insert(product)
        list.append(
          Work(
            node: index, operation: .multiplyAdd,
            operands: self.operands(product) + [product == a ? b : a]))
      } else {
        list.append(Work(node: index, operation: operation, operands: self.operands(index)))
      }
    }
    return list.reversed()
  }

  /// The maximum number of terms of a sum.
  private static let maxTerms = 64

  /// Returns an addition and those that lead to it as one sum of rows, each times a single number:
  /// in the order of the additions, so the result is the same. `nil` for fewer than three terms.
  private func sum(
    _ node: KernelGraph.Index, _ uses: [Int], _ absorbed: inout Set<KernelGraph.Index>
  ) -> Work? {
    func isAddition(_ node: KernelGraph.Index) -> Bool {
      guard case .operation(.add, _, _, _) = self.graph.nodes[node] else { return false }
      return !self.isSingle(node) && uses[node] == 1
    }
    var inner: [KernelGraph.Index] = []
    // The last term first.
    var terms: [KernelGraph.Index] = []
    var rest = node
    while case .operation(.add, let a, let b, _) = self.graph.nodes[rest],
      rest == node || isAddition(rest), terms.count < Self.maxTerms - 1
    {
      let (first, term) = isAddition(a) || !isAddition(b) ? (a, b) : (b, a)
      // A single number is not a term.
      guard !self.isSingle(first), !self.isSingle(term) else { break }
      if rest != node { inner.append(rest) }
      terms.append(term)
      rest = first
    }
    terms.append(rest)
    guard terms.count >= 3 else { return nil }
    absorbed.formUnion(inner)
    var sum = Work(node: node, operation: .copy, operands: [], weights: [])
    for term in terms.reversed() {
      var (row, weight): (KernelGraph.Index, KernelGraph.Index?) = (term, nil)
      if case .operation(.multiply, let a, let b, _) = self.graph.nodes[term], uses[term] == 1,
        self.isSingle(a) != self.isSingle(b)
      {
        absorbed.insert(term)
        (row, weight) = self.isSingle(a) ? (b, a) : (a, b)
      }
      sum.operands.append(row)
      sum.weights?.append(weight)
    }
    return sum
  }

  private func isProduct(_ node: KernelGraph.Index) -> Bool {
    guard case .operation(.multiply, _, _, _) = self.graph.nodes[node] else { return false }
    return !self.isSingle(node)
  }

  private func operands(_ node: KernelGraph.Index) -> [KernelGraph.Index] {
    switch self.graph.nodes[node] {
    case .operation(let operation, let a, let b, let c):
      Array([a, b, c].prefix(operation.operandCount))
    case .read(_, let x, let y): [x, y]
    case .channel(_, let pixel): [pixel]
    case .constant, .input: []
    }
  }

  /// The node with a step of its own that computes a node: a pixel, for its channels.
  private func root(_ node: KernelGraph.Index) -> KernelGraph.Index {
    if case .channel(_, let pixel) = self.graph.nodes[node] { pixel } else { node }
  }

  // MARK: Rows

  /// Appends the steps on rows.
  private mutating func schedule(
    _ work: [Work], _ results: [(channel: Int, node: KernelGraph.Index)], _ list: inout [Step]
  ) {
    // Channels that a result takes from another channel are saved before the first write.
    var saved: [Int: Place] = [:]
    for (channel, node) in results {
      guard case .input(.channel) = self.graph.nodes[node] else { continue }
      let place = self.takeRow()
      list.append(Step(operation: .copy, out: place, operands: [self.place(node)]))
      saved[channel] = place
    }
    var lastUses: [KernelGraph.Index: Int] = [:]
    for (index, item) in work.enumerated() {
      for operand in item.operands { lastUses[self.root(operand)] = index }
    }
    /// The last use of every input channel.
    var channelUses = [-1, -1, -1, -1]
    for (node, index) in lastUses {
      if case .input(.channel(let channel)) = self.graph.nodes[node] {
        channelUses[channel] = index
      }
    }
    for (_, node) in results { lastUses[self.root(node)] = .max }
    /// The rows of the channels of pixels.
    var pixelRows: [KernelGraph.Index: [Int]] = [:]
    func isFree(_ channel: Int, at index: Int) -> Bool { channelUses[channel] <= index }
    for (index, item) in work.enumerated() {
      let operands = item.operands.map { self.place($0) }
      if let picture = item.picture {
        let places = (0 ..< 4).map { channel in
          let target = results.first {
            self.graph.nodes[$0.node] == .channel(channel, of: item.node)
              && isFree($0.channel, at: index)
          }
          let place = target.map { Place.channel($0.channel) } ?? self.takeRow()
          self.pixelPlaces[item.node, default: []].append(place)
          return place
        }
        pixelRows[item.node] = places.compactMap(\.row)
        self.read(picture, at: operands, to: places, &list)
        self.nanosecondsPerPixel +=
          self.distance(item) <= Self.nearDistance
          ? Self.readNanoseconds.near : Self.readNanoseconds.far
      }
      for operand in Set(item.operands.map(self.root)) where lastUses[operand] == index {
        self.freeRows += pixelRows[operand] ?? self.places[operand]?.row.map { [$0] } ?? []
      }
      guard item.picture == nil else { continue }
      let target = results.first { $0.node == item.node && isFree($0.channel, at: index) }
      let place = target.map { Place.channel($0.channel) } ?? self.takeRow()
      self.places[item.node] = place
      let weights = item.weights?.map { $0.map { self.place($0) } ?? self.constant(1) }
      list.append(
        Step(operation: item.operation, out: place, operands: operands, weights: weights))
      self.nanosecondsPerPixel += item.nanoseconds
    }
    for (channel, node) in results {
      let place = saved[channel] ?? self.place(node)
      guard place != .channel(channel) else { continue }
      list.append(Step(operation: .copy, out: .channel(channel), operands: [place]))
      self.nanosecondsPerPixel += KernelOperation.copy.nanoseconds
    }
  }

  /// Appends a read of a picture. Its positions are rows.
  private mutating func read(
    _ picture: Int, at position: [Place], to places: [Place], _ list: inout [Step]
  ) {
    var copies: [Place] = []
    let rows = position.map { place in
      guard place.isSingle else { return place }
      let row = self.takeRow()
      copies.append(row)
      list.append(Step(operation: .copy, out: row, operands: [place]))
      return row
    }
    list.append(
      Step(
        operation: .copy, out: places[0], operands: rows,
        read: (picture, Array(places.dropFirst()))))
    self.freeRows += copies.compactMap(\.row)
  }

  private mutating func takeRow() -> Place {
    if let row = self.freeRows.popLast() { return .row(row) }
    self.rowCount += 1
    return .row(self.rowCount - 1)
  }

  /// Returns the position of a node; gives inputs and constants one.
  private mutating func place(_ node: KernelGraph.Index) -> Place {
    if let place = self.places[node] { return place }
    let place: Place
    switch self.graph.nodes[node] {
    case .constant(let value):
      place = self.constant(Float(value))
    case .input(.channel(let channel)):
      place = .channel(channel)
    case .input(.start):
      place = .singleInput(0)
    case .input(.row):
      place = .singleInput(1)
    case .input(.time):
      place = .singleInput(2)
    case .input(.frame):
      place = .singleInput(3)
    case .input(.unknown):
      place = self.constant(0)
    case .input(let input):
      self.inputs.append(input)
      place = .input(self.inputs.count - 1)
    case .channel(let channel, let pixel):
      guard let places = self.pixelPlaces[pixel] else {
        preconditionFailure("a pixel is read before its channels")
      }
      place = places[channel]
    case .operation, .read:
      preconditionFailure("an operation is computed before its result is read")
    }
    self.places[node] = place
    return place
  }

  private mutating func constant(_ value: Float) -> Place {
    if let known = self.constantPlaces[value.bitPattern] { return .constant(known) }
    self.constants.append(value)
    self.constantPlaces[value.bitPattern] = self.constants.count - 1
    return .constant(self.constants.count - 1)
  }

  // MARK: Slots

  /// Numbers the slots, in the order of `sl_kernel_program`.
  private mutating func number(_ list: [Step]) {
    let rows = 4 + self.inputs.count
    let constants = rows + self.rowCount
    let singleInputs = constants + self.constants.count
    let singles = singleInputs + 4
    self.fits =
      singles + self.singleCount <= Int(SL_KERNEL_SLOTS) && self.rowCount <= Int(SL_KERNEL_ROWS)
    guard self.fits else {
      self.singleStepCount = 0
      return
    }
    func slot(_ place: Place) -> UInt16 {
      switch place {
      case .channel(let index): UInt16(index)
      case .input(let index): UInt16(4 + index)
      case .row(let index): UInt16(rows + index)
      case .constant(let index): UInt16(constants + index)
      case .singleInput(let index): UInt16(singleInputs + index)
      case .single(let index): UInt16(singles + index)
      }
    }
    for step in list {
      let slots = step.operands.map(slot)
      if let weights = step.weights {
        for (row, weight) in zip(slots, weights) {
          self.steps.append(
            sl_kernel_step(
              operation: UInt8(SL_KERNEL_SUM.rawValue), singles: UInt8(weights.count),
              out: slot(step.out), a: row, b: slot(weight), c: 0))
        }
        continue
      }
      if let read = step.read {
        let others = read.others.map(slot)
        self.steps.append(
          sl_kernel_step(
            operation: UInt8(SL_KERNEL_READ.rawValue), singles: UInt8(read.picture),
            out: slot(step.out), a: slots[0], b: slots[1], c: 0))
        self.steps.append(
          sl_kernel_step(
            operation: UInt8(SL_KERNEL_READ.rawValue), singles: 0, out: others[0], a: others[1],
            b: others[2], c: 0))
        continue
      }
      var mask: UInt8 = 0
      if !step.out.isSingle {
        for (index, place) in step.operands.enumerated() where place.isSingle {
          mask |= 1 << UInt8(index)
        }
      }
      self.steps.append(
        sl_kernel_step(
          operation: step.operation.rawValue, singles: mask, out: slot(step.out), a: slots[0],
          b: slots.count > 1 ? slots[1] : slots[0], c: slots.count > 2 ? slots[2] : slots[0]))
    }
  }
}
