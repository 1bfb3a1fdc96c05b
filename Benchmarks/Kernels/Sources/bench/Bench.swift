import BenchmarkSupport
import SidelightKernelLanguage
import SidelightKernels
import SidelightText

/// Sidelight as a peer of the benchmark: answers the requests of the driver (see peers/peer.py)
/// on standard output.
@main
struct Bench {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { return print("usage: bench PICTURES") }
    var bench = try Bench(pictures: Pictures(folder: CommandLine.arguments[1]))
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      StandardOutput.printLine(try await bench.answer(words))
    }
  }

  private let pictures: Pictures
  private let catalogue: FilterCatalogue
  private let pool = BufferPool(maxIdleBytes: 2 << 30)
  private var computePools: [Int: ComputePool] = [:]

  private init(pictures: Pictures) throws {
    self.pictures = pictures
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText()
    catalogue.register(CustomFilter("solarize", "Bends the tones.", color: Solarize()))
    catalogue.assets = AssetStore(["cube": .cube(try pictures.cube())])
    self.catalogue = catalogue
  }

  private mutating func answer(_ words: [String]) async throws -> String {
    guard let verb = words.first else { return "skip" }
    switch verb {
    case "hello": return "ok Sidelight, rows for \(InstructionSet.current.rawValue)"
    case "plans": return try PlanTiming.report()
    case "filters": return try PlanTiming.filters()
    case "transitions":
      return try await TransitionTiming(
        pictures: self.pictures, catalogue: self.catalogue, pool: self.pool
      ).report(on: self.compute(1))
    default: break
    }
    guard words.count > 1, let work = Workload.all[words[1]] else { return "skip" }
    let plan = try work.plan(self.catalogue)
    switch verb {
    case "says":
      let passes = plan.passes.map { "\($0.name): \($0.summary)" }
      return "ok " + passes.joined(separator: "; ")
    case "time":
      guard words.count == 5, let threads = Int(words[2]), let ring = Int(words[3]),
        let budget = Double(words[4])
      else { return "skip" }
      let times = try await self.timing(plan, work, ring: ring).run(
        on: self.compute(threads), budget: budget)
      return "ok " + times.map { $0.fourDecimals }.joined(separator: " ")
    case "result":
      let frame = try await PlanExecutor(pool: self.pool, compute: self.compute(1))
        .run(
          plan,
          on: self.pictures.frames(
            plan.input, variant: work.variant, count: 1, pool: self.pool)[0])
      Pictures.write(frame, to: words[2])
      return "ok"
    case "steady": return try await self.steady(plan, work)
    default: return "skip"
    }
  }

  private func timing(_ plan: Plan, _ work: Workload, ring: Int) throws -> Timing {
    Timing(
      plan: plan,
      frames: try self.pictures.frames(
        plan.input, variant: work.variant, count: ring, pool: self.pool),
      pool: self.pool)
  }

  private mutating func compute(_ threads: Int) -> ComputePool {
    if let pool = self.computePools[threads] { return pool }
    let pool = ComputePool(threadCount: threads)
    self.computePools[threads] = pool
    return pool
  }

  /// Returns the number of buffers that 200 frames took from the pool, and the number of new ones.
  private mutating func steady(_ plan: Plan, _ work: Workload) async throws -> String {
    let timing = try self.timing(plan, work, ring: 24)
    let compute = self.compute(1)
    _ = try await timing.run(on: compute, frames: 50)
    let before = self.pool.statistics
    _ = try await timing.run(on: compute, frames: 200)
    let after = self.pool.statistics
    return "ok \(after.hits - before.hits) \(after.misses - before.misses)"
  }
}
