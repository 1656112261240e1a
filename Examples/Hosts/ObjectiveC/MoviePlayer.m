#import "MoviePlayer.h"
#import <AVFoundation/AVFoundation.h>
@import LatchkeyBridge;

@interface MoviePlayer ()
@property (nonatomic, nullable) LatchkeyKeys *keys;
@property (nonatomic, nullable) AVURLAsset *asset;
@property (nonatomic) AVPlayer *player;
@end

@implementation MoviePlayer

- (instancetype)init {
    self = [super init];
    _player = [[AVPlayer alloc] init];
    NSError *error = nil;
    __weak MoviePlayer *player = self;
    _keys = [[LatchkeyKeys alloc] initWithProfile:@"vudrm"
        settings:@{ @"certificateURL" : @"https://fairplay-license.vudrm.tech/certificate/example" }
        allowedHosts:@[]
        queue:nil  // the main queue
        credentials:^(LatchkeyCredentialRequest *request, void (^answer)(NSDictionary<NSString *, NSString *> *, NSError *)) {
            [MoviePlayer tokenForTitle:request.title completion:^(NSString *token, NSError *failure) {
                answer(token ? @{ @"token" : token } : nil, failure);
            }];
        }
        outcomes:^(LatchkeyOutcome *outcome) { [player show:outcome]; }
        error:&error];
    if (!_keys) [self showText:error.localizedRecoverySuggestion];
    return self;
}

- (void)playURL:(NSURL *)url title:(NSString *)title {
    if (self.asset) [self.keys releaseAsset:self.asset];
    self.asset = [AVURLAsset assetWithURL:url];
    [self.keys protectAsset:self.asset title:title];  // before the item is made
    [self.player replaceCurrentItemWithPlayerItem:[AVPlayerItem playerItemWithAsset:self.asset]];
    [self.player play];
}

- (void)show:(LatchkeyOutcome *)outcome {
    if (outcome.error) [self showText:outcome.viewerText];  // outcome.code and outcome.error are for the log
    if ([outcome.code isEqualToString:@"stuck"]) [self.keys replaceSession];
}

- (void)showText:(nullable NSString *)text {
    // The app's own way to show a message.
}

+ (void)tokenForTitle:(nullable NSString *)title completion:(void (^)(NSString *, NSError *))done {
    // The app's own server: a new token for each call.
    done(@"token", nil);
}

@end
