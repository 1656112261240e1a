import Foundation
import Latchkey

// A loader for each vendor, as shown on its page.

func anvatoLoader(certificate: URL, license: URL) -> ContentKeyLoader {
    ContentKeyLoader(.anvato(certificate: certificate, license: license))
}

func appleSampleLoader(certificate: URL, license: URL) -> ContentKeyLoader {
    ContentKeyLoader(.appleSample(certificate: certificate, license: license))
}

func axinomLoader(certificate: URL, license: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.axinom(certificate: certificate, license: license), credentials: credentials)
}

func azureLoader(certificate: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.azure(certificate: certificate), credentials: credentials)
}

func brightcoveLoader() -> ContentKeyLoader {
    ContentKeyLoader(.brightcove(account: "1234567890001"))
}

func bunnyStreamLoader() -> ContentKeyLoader {
    ContentKeyLoader(.bunnyStream(library: "759", video: "eb1c4f77-0cda-46be-b47d-1118ad7c2ffe"))
}

func cloudDRMLoader(certificate: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.cloudDRM(certificate: certificate, brand: "your-brand-guid"), credentials: credentials)
}

func naverLoader(accessKey: String, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.naver(accessKey: accessKey), credentials: credentials)
}

func comcastLoader(certificate: URL, license: URL, account: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(
        .comcast(certificate: certificate, license: license, account: account, release: "abcDEF012345"),
        credentials: credentials)
}

func conaxLoader(certificate: URL, license: URL) -> ContentKeyLoader {
    ContentKeyLoader(.conax(certificate: certificate, license: license))
}

func drmTodayLoader(certificate: URL, license: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.drmToday(certificate: certificate, license: license), credentials: credentials)
}

func doveRunnerLoader(credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.doveRunner(site: "ABCD"), credentials: credentials)
}

func expressPlayLoader(certificate: Data, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.expressPlay(certificate: certificate), credentials: credentials)
}

func ezdrmLoader(certificate: URL) -> ContentKeyLoader {
    ContentKeyLoader(.ezdrm(certificate: certificate))
}

func gumletLoader(certificate: URL, license: URL) -> ContentKeyLoader {
    ContentKeyLoader(.gumlet(certificate: certificate, license: license))
}

func irdetoLoader(certificate: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.irdeto(certificate: certificate), credentials: credentials)
}

func jwPlatformLoader(delivery: URL) -> ContentKeyLoader {
    ContentKeyLoader(.jwPlatform(delivery: delivery))
}

func kalturaLoader(certificate: URL, license: URL) -> ContentKeyLoader {
    ContentKeyLoader(.kaltura(certificate: certificate, license: license))
}

func keyOSLoader(certificate: URL, license: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.keyOS(certificate: certificate, license: license), credentials: credentials)
}

func latchkeyLoader(certificate: URL, license: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.latchkey(certificate: certificate, license: license), credentials: credentials)
}

func muxLoader(credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.mux(playbackID: "playback-id"), credentials: credentials)
}

func nagraLoader(certificate: URL, license: URL, sessions: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(
        .nagra(certificate: certificate, license: license, session: sessions), credentials: credentials)
}

func sigmaLoader(credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.sigma(merchant: "merchant", app: "app", user: "viewer-1"), credentials: credentials)
}

func titaniumLoader(certificate: URL, license: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.titanium(certificate: certificate, license: license), credentials: credentials)
}

func uplynkLoader(certificate: URL) -> ContentKeyLoader {
    ContentKeyLoader(.uplynk(certificate: certificate))
}

func verimatrixLoader(certificate: URL, license: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.verimatrix(certificate: certificate, license: license), credentials: credentials)
}

func vuDRMLoader(certificate: URL, credentials: Credentials) -> ContentKeyLoader {
    ContentKeyLoader(.vuDRM(certificate: certificate), credentials: credentials)
}
