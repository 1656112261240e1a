public import Foundation
import LatchkeyCore

/// Every profile with the settings that it needs, a line each, in the order of `VendorProfile.all`. A test holds the two together. Dialects
/// of web players and of THEOplayer are not public: an app's own player speaks another, and THEOplayer's sources have the settings.
///
/// `certificate` and `license` are the addresses of the application certificate and of the license service; one that may be left out has a
/// value in the profile or in the key URI. A certificate as `Data` comes with the app: DER or PEM.
extension ConfiguredVendor {
    /// VuDRM as in the JW Player 3 document.
    public static func vuDRM(certificate: URL, license: URL? = nil) -> Self { Self(.vuDRM, certificate, license) }
    /// VuDRM as in THEOplayer's sample.
    package static func vuDRMTheo(certificate: URL, license: URL? = nil) -> Self {
        Self(.vuDRMTheo, certificate, license)
    }
    /// VuDRM's raw dialect, with the token in a header.
    public static func vuDRMRaw(certificate: URL, license: URL? = nil) -> Self { Self(.vuDRMRaw, certificate, license) }
    /// VuDRM as in the vendor's page for JW Player 4.
    public static func vuDRMJW4(certificate: URL, license: URL? = nil) -> Self { Self(.vuDRMJW4, certificate, license) }

    /// Cloud DRM, current generation, of a tenant of Cloud Video Kit. A license service at the key URI has to be on the certificate's host or
    /// allowed in the loader's `HostPolicy`.
    public static func cloudDRM(certificate: URL, brand: String, license: URL? = nil) -> Self {
        Self(.cloudDRM, certificate, license, set: ["brandGuid": brand])
    }
    /// Cloud DRM with the viewer's token in the certificate's address.
    public static func cloudDRMCertificateToken(certificate: URL, brand: String, license: URL? = nil) -> Self {
        Self(.cloudDRMCertificateToken, certificate, license, set: ["brandGuid": brand])
    }
    /// Cloud DRM as the AVPlayer document has it: the license is at the key URI, whose host has to be the certificate's or allowed in the
    /// loader's `HostPolicy`.
    public static func cloudDRMLegacy(certificate: URL, brand: String) -> Self {
        Self(.cloudDRMLegacy, certificate, set: ["brandGuid": brand])
    }

    /// Azure Media Services, with the license service that the key URI names unless it is given.
    public static func azure(certificate: URL, license: URL? = nil) -> Self { Self(.azure, certificate, license) }
    /// Azure Media Services where the text behind a `?` of the key URI names the key.
    package static func azureWeb(certificate: URL, license: URL? = nil) -> Self {
        Self(.azureWeb, certificate, license)
    }
    /// Azure Media Services where the key URI's host names the key.
    public static func azureHost(certificate: URL, license: URL? = nil) -> Self {
        Self(.azureHost, certificate, license)
    }
    /// Uplynk.
    public static func uplynk(certificate: URL) -> Self { Self(.uplynk, certificate) }
    /// Uplynk as in web players.
    package static func uplynkWeb(certificate: URL) -> Self { Self(.uplynkWeb, certificate) }

    /// EZDRM with its own license service, or another address before the asset's GUID.
    public static func ezdrm(certificate: URL, license: URL? = nil) -> Self { Self(.ezdrm, certificate, license) }
    /// EZDRM with the whole license URL of one asset.
    public static func ezdrmComplete(certificate: URL, license: URL) -> Self {
        Self(.ezdrmComplete, certificate, license)
    }
    /// EZDRM with `^assetId^` in the license URL.
    public static func ezdrmTemplate(certificate: URL, license: URL) -> Self {
        Self(.ezdrmTemplate, certificate, license)
    }
    /// EZDRM with custom data as the token.
    public static func ezdrmCustomData(certificate: URL, license: URL? = nil) -> Self {
        Self(.ezdrmCustomData, certificate, license)
    }
    /// EZDRM as in web players.
    package static func ezdrmWeb(certificate: URL, license: URL? = nil) -> Self {
        Self(.ezdrmWeb, certificate, license)
    }

    /// Verimatrix Core with the token in a header.
    public static func verimatrix(certificate: URL, license: URL) -> Self { Self(.verimatrix, certificate, license) }
    /// Verimatrix Core with the token in the query.
    public static func verimatrixQuery(certificate: URL, license: URL) -> Self {
        Self(.verimatrixQuery, certificate, license)
    }
    /// The customer's own Verimatrix server, without a token.
    public static func verimatrixLegacy(certificate: URL, license: URL) -> Self {
        Self(.verimatrixLegacy, certificate, license)
    }

    /// Titanium with a token.
    public static func titanium(certificate: URL, license: URL) -> Self { Self(.titanium, certificate, license) }
    /// Titanium with a token, and the certificate that the app ships.
    public static func titanium(certificate: Data, license: URL) -> Self {
        Self(.titanium, nil, license, bundled: certificate)
    }
    /// Titanium with a token, as in THEOplayer on iOS.
    package static func titaniumTheo(certificate: URL, license: URL) -> Self {
        Self(.titaniumTheo, certificate, license)
    }
    /// Titanium with a token, as in THEOplayer on the web.
    package static func titaniumWeb(certificate: URL, license: URL) -> Self { Self(.titaniumWeb, certificate, license) }
    /// Titanium without a token: the viewer's account and the device authorize. `friendlyName` is the device's name for the viewer.
    public static func titaniumDevice(
        certificate: URL, license: URL, customer: String, account: String, portal: String, friendlyName: String? = nil,
        device: PlaybackDevice = .current
    ) -> Self {
        let viewer = [
            "customerName": customer, "accountName": account, "portalId": portal, "friendlyName": friendlyName,
        ]
        return Self(.titaniumDevice, certificate, license, set: viewer.merging(device.titaniumSettings) { $1 })
    }

    /// ExpressPlay with token URLs as key URIs.
    public static func expressPlay(certificate: Data) -> Self {
        Self(.expressPlay, bundled: certificate)
    }
    /// ExpressPlay with an entitlement server. Its tokens may register a device or be bound to it, as the server chooses unless it is stated;
    /// both need the server's name of the viewer, `cookie`, at most 32 characters.
    public static func expressPlay(
        certificate: Data, entitlement: URL, binding: VendorProfile.ExpressPlayBinding? = nil, cookie: String? = nil
    ) -> Self {
        Self(
            .expressPlayEntitlement, bundled: certificate,
            set: [
                "entitlementURL": entitlement.absoluteString, "requestType": binding.map { "\($0.rawValue)" },
                "customerCookie": cookie,
            ])
    }
    /// ExpressPlay with the app's own server, which answers a GET with the content id in its query with a token URL for each license.
    public static func expressPlay(certificate: Data, tokenServer: URL) -> Self {
        Self(.expressPlayTokenServer, bundled: certificate, set: ["tokenServerURL": tokenServer.absoluteString])
    }
    /// ExpressPlay with the customer's own license server.
    public static func expressPlay(certificate: Data, onPremise: URL) -> Self {
        Self(.expressPlayOnPremise, nil, onPremise, bundled: certificate)
    }

    /// NAGRA CONNECT; with the address of secure session management if sessions are in use.
    public static func nagra(certificate: URL, license: URL, session: URL? = nil) -> Self {
        Self(.nagra, certificate, license, set: ["sessionURL": session?.absoluteString])
    }
    /// NAGRA CONNECT with the content token for the certificate too, as THEOplayer.
    package static func nagraTheo(certificate: URL, license: URL, session: URL? = nil) -> Self {
        Self(.nagraTheo, certificate, license, set: ["sessionURL": session?.absoluteString])
    }

    /// Axinom DRM with the message in a header.
    public static func axinom(certificate: URL, license: URL) -> Self { Self(.axinom, certificate, license) }
    /// Axinom DRM with the message in the query.
    public static func axinomQuery(certificate: URL, license: URL) -> Self { Self(.axinomQuery, certificate, license) }
    /// KeyOS.
    public static func keyOS(certificate: URL, license: URL) -> Self { Self(.keyOS, certificate, license) }
    /// KeyOS with the token in the header `customdata`.
    public static func keyOSCustomData(certificate: URL, license: URL) -> Self {
        Self(.keyOSCustomData, certificate, license)
    }
    /// KeyOS where the key URI's host names the key.
    public static func keyOSHost(certificate: URL, license: URL) -> Self { Self(.keyOSHost, certificate, license) }
    /// KeyOS as in THEOplayer's sample for iOS.
    public static func keyOSiOS(certificate: URL, license: URL) -> Self { Self(.keyOSiOS, certificate, license) }

    /// DRMtoday with an upfront token.
    public static func drmToday(certificate: URL? = nil, license: URL? = nil) -> Self {
        Self(.drmToday, certificate, license)
    }
    /// DRMtoday with custom data about the viewer.
    public static func drmTodayCustomData(
        merchant: String, user: String, session: String, certificate: URL? = nil, license: URL? = nil
    ) -> Self {
        Self(
            .drmTodayCustomData, certificate, license,
            set: ["merchant": merchant, "userId": user, "sessionId": session])
    }
    /// DRMtoday with custom data, and the key URI's query in the body.
    public static func drmTodayQuery(
        merchant: String, user: String, session: String, certificate: URL? = nil, license: URL? = nil
    ) -> Self {
        Self(.drmTodayQuery, certificate, license, set: ["merchant": merchant, "userId": user, "sessionId": session])
    }
    /// DoveRunner with the token in a header; `site` is the site id, four characters.
    public static func doveRunner(site: String) -> Self { Self(.doveRunner, set: ["siteId": site]) }
    /// DoveRunner with the token in the query.
    public static func doveRunnerQuery(site: String) -> Self { Self(.doveRunnerQuery, set: ["siteId": site]) }

    /// Irdeto Control with the license at the key URI; with the application id if the addresses lack it.
    public static func irdeto(certificate: URL, application: String? = nil) -> Self {
        Self(.irdeto, certificate, set: ["applicationId": application])
    }
    /// Irdeto Control where the whole key URI names the key, as THEOplayer on the web.
    package static func irdetoTheo(certificate: URL, application: String? = nil) -> Self {
        Self(.irdetoTheo, certificate, set: ["applicationId": application])
    }
    /// Mux, of one asset.
    public static func mux(playbackID: String) -> Self { Self(.mux, set: ["playbackId": playbackID]) }
    /// Mux as in web players.
    package static func muxWeb(playbackID: String) -> Self { Self(.muxWeb, set: ["playbackId": playbackID]) }

    /// Brightcove Video Cloud with the certificate and the license service of an account, by its id.
    public static func brightcove(account: String) -> Self { Self(.brightcove, set: ["publisherId": account]) }
    /// Brightcove Video Cloud with the addresses of the catalog: the source's certificate and key request.
    public static func brightcove(certificate: URL, keyRequest: URL) -> Self {
        Self(.brightcove, certificate, set: ["keyRequestURL": keyRequest.absoluteString])
    }

    /// Studio DRM with JW Platform, by the address of the delivery document.
    public static func jwPlatform(delivery: URL) -> Self {
        Self(.jwPlatform, set: ["deliveryURL": delivery.absoluteString])
    }
    /// Conax.
    public static func conax(certificate: URL, license: URL) -> Self { Self(.conax, certificate, license) }
    /// Comcast's thePlatform; `account` is the account's URL, `release` the release's PID.
    public static func comcast(certificate: URL, license: URL, account: URL, release: String) -> Self {
        Self(.comcast, certificate, license, set: ["account": account.absoluteString, "releasePid": release])
    }
    /// Anvato.
    public static func anvato(certificate: URL, license: URL) -> Self { Self(.anvato, certificate, license) }
    /// Kaltura uDRM, with the license URL of the playback context.
    public static func kaltura(certificate: URL, license: URL) -> Self { Self(.kaltura, certificate, license) }
    /// Kaltura uDRM, with the certificate that the app ships.
    public static func kaltura(certificate: Data, license: URL) -> Self {
        Self(.kaltura, nil, license, bundled: certificate)
    }
    /// Kaltura uDRM as in the web player.
    package static func kalturaWeb(certificate: URL, license: URL) -> Self { Self(.kalturaWeb, certificate, license) }
    /// Gumlet; the license URL has its token.
    public static func gumlet(certificate: URL, license: URL) -> Self { Self(.gumlet, certificate, license) }
    /// Bunny Stream, of one video of a library.
    public static func bunnyStream(library: String, video: String) -> Self {
        Self(.bunnyStream, set: ["libraryId": library, "videoId": video])
    }
    /// Sigma Multi-DRM with the SPC as JSON.
    public static func sigma(merchant: String, app: String, user: String) -> Self {
        Self(.sigma, set: ["merchantId": merchant, "appId": app, "userId": user])
    }
    /// Sigma Multi-DRM with the SPC in a form.
    public static func sigmaForm(merchant: String, app: String, user: String) -> Self {
        Self(.sigmaForm, set: ["merchantId": merchant, "appId": app, "userId": user])
    }
    /// NAVER Cloud's One Click Multi DRM; with the id of the access key that signs, unless a proxy adds it.
    public static func naver(accessKey: String? = nil) -> Self { Self(.naver, set: ["accessKey": accessKey]) }
    /// A license server of one's own: `…/t/TENANT/certificate` and `…/t/TENANT/fairplay`.
    public static func latchkey(certificate: URL, license: URL) -> Self { Self(.latchkey, certificate, license) }
    /// Apple's sample for a key server module.
    public static func appleSample(certificate: URL, license: URL) -> Self { Self(.appleSample, certificate, license) }

    /// Any service that takes the SPC as it is. Here and below `contentID` names the key if the key URI's host does not.
    public static func genericRaw(certificate: URL, license: URL? = nil, contentID: String? = nil) -> Self {
        Self(.genericRaw, certificate, license, set: ["contentId": contentID])
    }
    /// Any service that takes the SPC as base64 text.
    public static func genericBase64(certificate: URL, license: URL? = nil, contentID: String? = nil) -> Self {
        Self(.genericBase64, certificate, license, set: ["contentId": contentID])
    }
    /// Any service that takes the SPC in a form.
    public static func genericForm(certificate: URL, license: URL? = nil, contentID: String? = nil) -> Self {
        Self(.genericForm, certificate, license, set: ["contentId": contentID])
    }
    /// Any service that takes the SPC as JSON.
    public static func genericJSON(certificate: URL, license: URL? = nil, contentID: String? = nil) -> Self {
        Self(.genericJSON, certificate, license, set: ["contentId": contentID])
    }
}
