import CKernels

/// The instruction set of the C rows, chosen once when the process starts: the best one that the
/// machine supports, or the one named by `SIDELIGHT_ISA`.
///
/// Machines other than x86-64 run the portable rows: vector code without intrinsics, for the
/// compiler's target (NEON on arm64).
public enum InstructionSet: String, Sendable, Hashable, CaseIterable {
  /// Portable vector code, for the compiler's default target.
  case portable
  /// x86-64 with AVX2 and FMA.
  case avx2
  /// x86-64 with AVX-512 F, BW, DQ and VL.
  case avx512

  /// The one in use.
  public static var current: InstructionSet {
    InstructionSet(rawValue: unsafe String(cString: sl_rows_current().pointee.name)) ?? .portable
  }

  /// The sets that this machine can run, ``portable`` first.
  package static var available: [InstructionSet] {
    Self.allCases.filter { unsafe sl_rows_named($0.rawValue) != nil }
  }

  /// Switches the calling thread to these rows, if the machine can run them.
  func useOnThisThread() {
    unsafe sl_rows_use(sl_rows_named(self.rawValue))
  }
}

extension InstructionSet {
  /// The time of a kernel's program with the instruction set in use, relative to AVX2; measured.
  package static var kernelSlowness: Double {
    switch Self.current {
    case .portable: 2
    case .avx2: 1
    case .avx512: 0.6
    }
  }
}
