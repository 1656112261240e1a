import Foundation
import LatchkeyVendors

/// A vendor's profile in JSON. A profile that was read without problems must be readable again after it is written.
func fuzzProfile(_ data: Data) {
    let problems = VendorProfile.problems(inJSON: data)
    guard let profile = try? VendorProfile(json: data) else {
        return require(!problems.isEmpty, "refused without a reason")
    }
    _ = profile.problems
    guard let written = try? JSONEncoder().encode(profile) else { return }
    require((try? VendorProfile(json: written)) != nil, "written, it is not read again")
}
