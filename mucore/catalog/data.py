"""Data sets, models and presets."""

from __future__ import annotations

from mucore.catalog.cards import DatasetCard, ModelCard, PresetCard

FASHION_CLASSES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
FASHION_SOURCE = "Xiao, Rasul and Vollgraf, Fashion-MNIST, 2017; github.com/zalandoresearch/fashion-mnist"

DATASETS: tuple[DatasetCard, ...] = (
    DatasetCard(
        id="fashion-mnist-10k",
        title="Fashion-MNIST, 10,000 images",
        source=f"Balanced subset of Fashion-MNIST. {FASHION_SOURCE}",
        licence="MIT",
        classes=10,
        shape=(1, 28, 28),
        sizes=(10_000, 1_000, 2_000),
        embedded=True,
        balanced=True,
        augmentation=False,
        where="Nothing to fetch: it comes with the repository, as data/fashion-mnist-10k.npz.",
        class_names=FASHION_CLASSES,
    ),
    DatasetCard(
        id="digits",
        title="Digits, 8 by 8 pixels",
        source="Optical Recognition of Handwritten Digits (Alpaydin and Kaynak, UCI, 1998), as scikit-learn ships it",
        licence="CC BY 4.0",
        classes=10,
        shape=(1, 8, 8),
        sizes=(1_200, 197, 400),
        embedded=True,
        augmentation=False,
        where="Nothing to fetch: it comes with scikit-learn.",
        class_names=tuple("0123456789"),
    ),
    DatasetCard(
        id="fashion-mnist",
        title="Fashion-MNIST",
        source=FASHION_SOURCE,
        licence="MIT",
        classes=10,
        shape=(1, 28, 28),
        sizes=(54_000, 6_000, 10_000),
        embedded=False,
        balanced=True,
        augmentation=False,
        where=(
            "Fetch the four files train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and "
            "t10k-labels-idx1-ubyte.gz from github.com/zalandoresearch/fashion-mnist and put them into FashionMNIST/raw of the data folder "
            "(MUCORE_DATA, or ~/.mucore/data). On Debian and Ubuntu, the package dataset-fashion-mnist is found by itself."
        ),
        class_names=FASHION_CLASSES,
    ),
    DatasetCard(
        id="cifar10",
        title="CIFAR-10",
        source="Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009",
        licence="None stated by the authors; free for research",
        classes=10,
        shape=(3, 32, 32),
        sizes=(45_000, 5_000, 10_000),
        embedded=False,
        balanced=True,
        augmentation=True,
        where=(
            "Fetch cifar-10-python.tar.gz (170 MB) from www.cs.toronto.edu/~kriz/cifar.html and put it, packed or unpacked, into the data "
            "folder (MUCORE_DATA, or ~/.mucore/data)."
        ),
        class_names=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    ),
    DatasetCard(
        id="npz",
        title="Your arrays",
        source="A file of the user",
        licence="The user's own",
        classes=None,
        shape=None,
        sizes=None,
        embedded=False,
        augmentation=False,
        where=(
            "Name it npz:PATH. The file holds x_train and x_test (uint8, [n, h, w] or [n, h, w, c]), y_train and y_test (integers from 0), "
            "and may hold x_val and y_val, identity_train and identity_test. Save it with numpy.savez."
        ),
        takes_path=True,
    ),
    DatasetCard(
        id="folder",
        title="Your images",
        source="A folder of the user",
        licence="The user's own",
        classes=None,
        shape=None,
        sizes=None,
        embedded=False,
        augmentation=True,
        where=(
            "Name it folder:PATH. It holds train/CLASS/*.png and test/CLASS/*.png (or jpg, bmp, webp, gif), and may hold val/CLASS/* and "
            "identities.csv with the columns file and identity. All images have one size."
        ),
        takes_path=True,
    ),
)

MODELS: tuple[ModelCard, ...] = (
    ModelCard(
        id="resnet9-small",
        title="ResNet-9, small",
        source="After the nine-layer ResNet of David Page (How to Train Your ResNet, 2018), narrowed for a CPU",
        parameters_note="0.41 M parameters",
        min_image_size=8,
    ),
    ModelCard(
        id="resnet18",
        title="ResNet-18",
        source="He et al., Deep Residual Learning, CVPR 2016; CIFAR stem below 64 pixels",
        parameters_note="11.2 M parameters",
        min_image_size=8,
    ),
    ModelCard(
        id="mlp",
        title="MLP 512-256-128",
        source="Becker and Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022",
        parameters_note="0.57 M parameters on 28 by 28 grey pixels",
        min_image_size=1,
    ),
)

_STANDARD = {
    "epochs": 15,
    "batch_size": 64,
    "lr": 0.05,
    "optimizer": "sgd",
    "momentum": 0.9,
    "nesterov": True,
    "weight_decay": 5e-4,
    "schedule": "onecycle",
}

PRESETS: tuple[PresetCard, ...] = (
    PresetCard(
        id="standard",
        title="Standard",
        meaning="15 epochs with a one-cycle rate. On two CPU cores resnet9-small fits fashion-mnist-10k in a bit more than half a minute.",
        source="MUBox's optimiser with a one-cycle rate; batch and rate chosen by us, so that 15 epochs reach 100 % on the training images",
        recipe=_STANDARD,
    ),
    PresetCard(
        id="quick",
        title="Quick",
        meaning="The standard recipe in 5 epochs, to try something out; the models are not fully trained.",
        source="As standard",
        recipe={**_STANDARD, "epochs": 5},
    ),
    PresetCard(
        id="mubox-cifar10",
        title="MUBox, CIFAR-10",
        meaning="200 epochs with a cosine rate, for resnet18 on cifar10; wants a GPU.",
        source="MUBox (Li, Thuraisingham and Wei, SACMAT 2025)",
        recipe={
            "epochs": 200,
            "batch_size": 256,
            "lr": 0.1,
            "optimizer": "sgd",
            "momentum": 0.9,
            "nesterov": True,
            "weight_decay": 5e-4,
            "schedule": "cosine",
        },
        open_points=(
            "MUBox prints neither the learning rate nor the momentum nor the weight decay of the original's training. 0.1, 0.9 and 5e-4 "
            "are the usual values for this network and are ours."
        ),
    ),
)
