import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

/// Known answers of a derivation, in a licensee's file: they belong to the licensee, as no public ones may be shipped.
///
/// `derivations` have R2, ASk and the derived values; `exchanges` name SPCs of the licensee's SDK and the credentials that they are for. An
/// SPC opens with the right derivation only, because 128 bits have to agree.
///
/// Source: `Documentation/Licensees.md` §2; `Documentation/FairPlay.md` §5.
struct DerivationVectors: Sendable, Equatable {
    struct Derivation: Sendable, Equatable {
        var r2 = Secret([])
        var ask: Secret?
        var dask = Secret([])
    }

    struct Exchange: Sendable, Equatable {
        var spc = ""
        var credentials = ""
    }

    var derivations: [Derivation] = []
    var exchanges: [Exchange] = []

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .defaulting("derivations", \.derivations, .list(Derivation.form.form), to: []),
            .defaulting("exchanges", \.exchanges, .list(Exchange.form.form), to: []),
        ],
        check: { vectors, place, problems in
            guard vectors.derivations.isEmpty, vectors.exchanges.isEmpty else { return }
            problems.append(JSONProblem(place, "It has no vectors.", remedy: "Add derivations or exchanges."))
        })

    /// Checks a derivation against the vectors.
    /// - Parameters:
    ///   - credential: the credential whose certificate is passed to the derivation with R2 and ASk.
    ///   - openers: for SPCs whose layout is not public.
    ///   - exchange: reads an exchange's SPC and credential.
    /// - Throws: `vectorFailed` for the first vector with a different answer, by its place; the errors of `exchange`.
    func check(
        _ derivation: any ApplicationSecretDerivation, _ openers: [any SPCOpener], for credential: KeyServerCredential,
        exchange read: (Exchange) throws -> (spc: [UInt8], credential: KeyServerCredential)
    ) throws {
        for (index, vector) in derivations.enumerated() {
            let place = "derivations[\(index)]"
            let derived: Secret
            do {
                derived = try derivation.derivedKey(
                    r2: vector.r2, for: credential.replacing(applicationSecret: vector.ask))
            } catch {
                throw Diagnosis.vectorFailed(place, (error as? any DiagnosableError)?.reason ?? "\(type(of: error))")
            }
            guard derived == vector.dask else { throw Diagnosis.vectorFailed(place, "The derived key is wrong.") }
        }
        for (index, vector) in exchanges.enumerated() {
            let (spc, credential) = try read(vector)
            let module = KeyServerModule(credentials: [credential], derivation: derivation, openers: openers)
            do { _ = try module.open(spc) } catch { throw Diagnosis.vectorFailed("exchanges[\(index)]", error.reason) }
        }
    }
}

extension Diagnosis {
    fileprivate static func vectorFailed(_ place: String, _ what: String) -> Diagnosis {
        Diagnosis(
            code: "vectorFailed", reason: "The derivation fails the vector \(place). \(what)",
            remedy: "Check the library and the vectors; the server does not start with a wrong derivation.")
    }
}

extension DerivationVectors.Derivation {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("r2", \.r2, .hexadecimal(21)), .optional("ask", \.ask, .hexadecimal(16)),
            .required("dask", \.dask, .hexadecimal(16)),
        ])
}

extension DerivationVectors.Exchange {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(), members: [.required("spc", \.spc, .text), .required("credentials", \.credentials, .text)])
}

extension JSONForm where Value == Secret {
    fileprivate static func hexadecimal(_ count: Int) -> JSONForm {
        JSONForm(
            text: "\(count * 2) hexadecimal digits",
            read: { text in Data(hexString: text).flatMap { $0.count == count ? Secret($0) : nil } },
            write: { $0.withUnsafeBytes { $0.hexString } })
    }
}
