// swift-tools-version: 6.2
import PackageDescription

// Tests of the package without the trait Vision: `dev/test without-vision`. A build of the root
// package has one set of traits, so the other one needs a package of its user's.
let package = Package(
  name: "without-vision",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "sidelight", path: "../..", traits: [])
  ],
  targets: [
    .testTarget(
      name: "WithoutVisionTests",
      dependencies: [
        .product(name: "SidelightKernelLanguage", package: "sidelight"),
        .product(name: "SidelightKernels", package: "sidelight"),
        .product(name: "SidelightVision", package: "sidelight"),
      ],
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")])
  ]
)
