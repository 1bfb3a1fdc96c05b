// swift-tools-version: 6.2
import PackageDescription

// The manifest of `dev/test asan vision`: the modules of the root package that VisionTests need,
// always with Vision. Tests/Sanitizers/run copies it next to links to the sources.
let strictMemory: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .strictMemorySafety(),
  .define("Vision"),
]

let package = Package(
  name: "sidelight",
  platforms: [.macOS(.v15)],
  targets: [
    .target(name: "CKernels", path: "Sources/CKernels"),
    .target(
      name: "SidelightKernels", dependencies: ["CKernels"], path: "Sources/Kernels",
      swiftSettings: strictMemory),
    .target(
      name: "SidelightKernelLanguage", dependencies: ["SidelightKernels", "CKernels"],
      path: "Sources/KernelLanguage", swiftSettings: strictMemory),
    .systemLibrary(name: "CTurboJPEG", path: "Sources/CTurboJPEG", pkgConfig: "libturbojpeg"),
    .systemLibrary(name: "CPNG", path: "Sources/CPNG", pkgConfig: "libpng"),
    .target(
      name: "SidelightCodecs", dependencies: ["SidelightKernels", "CTurboJPEG", "CPNG"],
      path: "Sources/Codecs", swiftSettings: strictMemory),
    .target(
      name: "CVision", path: "Sources/CVision", exclude: ["system"],
      cxxSettings: [.headerSearchPath("system"), .define("SIDELIGHT_VISION")],
      linkerSettings: ["core", "imgproc", "objdetect", "video", "dnn"].map {
        .linkedLibrary("opencv_\($0)")
      }),
    .target(
      name: "SidelightVision", dependencies: ["SidelightKernels", "CVision"],
      path: "Sources/Vision", swiftSettings: strictMemory),
    .testTarget(
      name: "VisionTests",
      dependencies: [
        "SidelightKernelLanguage", "SidelightVision", "SidelightCodecs", "SidelightKernels",
      ],
      swiftSettings: strictMemory),
  ],
  cxxLanguageStandard: .cxx17
)
