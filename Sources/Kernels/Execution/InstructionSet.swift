import CKernels

/// The instruction set that the pixel rows were compiled for, chosen once when the process starts:
/// the best that the machine has, or what `SIDELIGHT_ISA` names.
///
/// Machines other than x86-64 run the portable rows: vector code without intrinsics, for whatever the
/// compiler targets (NEON on arm64).
public enum InstructionSet: String, Sendable, Hashable, CaseIterable {
  /// Portable vector code, for whatever the compiler targets by default.
  case portable
  /// x86-64 with AVX2 and FMA.
  case avx2
  /// x86-64 with AVX-512 F, BW, DQ and VL.
  case avx512

  /// The one in use.
  public static var current: InstructionSet {
    InstructionSet(rawValue: unsafe String(cString: sl_rows_current().pointee.name)) ?? .portable
  }

  /// Those that this machine can run, ``portable`` first.
  package static var available: [InstructionSet] {
    Self.allCases.filter { unsafe sl_rows_named($0.rawValue) != nil }
  }

  /// Has the calling thread compute with these rows from now on, where the machine can run them.
  func useOnThisThread() {
    unsafe sl_rows_use(sl_rows_named(self.rawValue))
  }
}
