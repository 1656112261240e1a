#if canImport(AVFoundation)
    import LatchkeyAVFoundation

    extension KeyAlerts {
        /// Tells the viewer why the picture is black, on a display that does not protect it as the license demands.
        func show(_ notice: AVPlayerKeys.Notice) {
            switch notice {
            case .protectionChanged(_, .insufficient):
                alert("This display cannot show the film. Disconnect it, or watch on this device.")
            case .streamedInstead: alert("The film cannot be downloaded while you watch it over AirPlay.")
            default: break
            }
        }
    }
#endif
