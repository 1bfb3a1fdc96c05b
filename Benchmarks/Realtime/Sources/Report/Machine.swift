import Foundation

/// The machine on which figures are measured.
enum Machine {
  /// The widest of the instruction sets that filters use and the processor has.
  private static var instructionSet: String {
    let flags = Self.value("flags", in: "/proc/cpuinfo")?.split(separator: " ") ?? []
    let names: [(Substring, String)] = [("avx512bw", "AVX-512"), ("avx2", "AVX2")]
    return names.first { flags.contains($0.0) }?.1 ?? "neither AVX2 nor AVX-512"
  }

  /// The processor, instruction set, cores, memory and kernel.
  static var description: String {
    let model = Self.value("model name", in: "/proc/cpuinfo") ?? "unknown processor"
    let memory =
      Self.value("MemTotal", in: "/proc/meminfo")
      .flatMap { $0.split(separator: " ").first }.flatMap { Int($0) } ?? 0
    let kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
    return "\(model) (\(self.instructionSet)), \(ProcessInfo.processInfo.processorCount) cores, "
      + "\(memory >> 20) GiB, Linux \(kernel.trimmingCharacters(in: .whitespacesAndNewlines))"
  }

  /// The load average of the last minute, which shows whether other programs were running.
  static var load: String {
    let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? "?"
    return text.split(separator: " ").first.map(String.init) ?? "?"
  }

  private static func value(_ name: String, in path: String) -> String? {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").first { $0.hasPrefix(name) }?
      .split(separator: ":").dropFirst().first?.trimmingCharacters(in: .whitespaces)
  }
}
