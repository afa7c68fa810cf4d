"""Data sets, models and presets."""

from __future__ import annotations

from mucore.catalog.cards import DatasetCard, ModelCard, PresetCard
from mucore.catalog.drawn import DRAWN
from mucore.catalog.papers import PAPERS
from mucore.catalog.points import POINTS
from mucore.catalog.published import PUBLISHED

FASHION_CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
FASHION_SOURCE = (
    "Xiao, Rasul and Vollgraf, Fashion-MNIST, 2017; github.com/zalandoresearch/fashion-mnist"
)

DATASETS: tuple[DatasetCard, ...] = (
    DatasetCard(
        id="fashion-mnist-10k",
        loader="fashion_mnist:load",
        title="Fashion-MNIST, 10,000 images",
        source=f"Balanced subset of Fashion-MNIST. {FASHION_SOURCE}",
        licence="MIT",
        shape=(1, 28, 28),
        sizes=(10_000, 1_000, 2_000),
        embedded=True,
        balanced=True,
        where="Nothing to fetch: it comes with the repository, as data/fashion-mnist-10k.npz.",
        class_names=FASHION_CLASSES,
    ),
    DatasetCard(
        id="digits",
        loader="digits:load",
        title="Digits, 8 by 8 pixels",
        source="Optical Recognition of Handwritten Digits (Alpaydin and Kaynak, UCI, 1998), as "
        "scikit-learn ships it",
        licence="CC BY 4.0",
        shape=(1, 8, 8),
        sizes=(1_200, 197, 400),
        embedded=True,
        where="Nothing to fetch: it comes with scikit-learn.",
        class_names=tuple("0123456789"),
    ),
    *DRAWN,
    *POINTS,
    DatasetCard(
        id="fashion-mnist",
        loader="torchvision_sets:mnist",
        title="Fashion-MNIST",
        source=FASHION_SOURCE,
        licence="MIT",
        shape=(1, 28, 28),
        sizes=(54_000, 6_000, 10_000),
        balanced=True,
        where="Fetch the four files train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
        "t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz from "
        "github.com/zalandoresearch/fashion-mnist and put them into FashionMNIST/raw of the data "
        "folder (MUCORE_DATA, or ~/.mucore/data). On Debian and Ubuntu, the package "
        "dataset-fashion-mnist is found automatically.",
        class_names=FASHION_CLASSES,
    ),
    DatasetCard(
        id="cifar10",
        loader="torchvision_sets:cifar",
        title="CIFAR-10",
        source="Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009",
        licence="None stated by the authors; free for research",
        shape=(3, 32, 32),
        sizes=(45_000, 5_000, 10_000),
        balanced=True,
        augmentation=True,
        where="Fetch cifar-10-python.tar.gz (170 MB) from www.cs.toronto.edu/~kriz/cifar.html and "
        "put it, packed or unpacked, into the data folder (MUCORE_DATA, or ~/.mucore/data).",
        class_names=tuple("airplane automobile bird cat deer dog frog horse ship truck".split()),
    ),
    *PUBLISHED,
    DatasetCard(
        id="npz",
        loader="own:load_npz",
        title="Your own data (my.npz)",
        source="A file of the user",
        licence="The user's own",
        where="It holds x_train, y_train, x_test and y_test, saved with numpy.savez; on the "
        "command line it is npz:PATH. Forms and examples: docs/your-data.md.",
        takes_path=True,
    ),
    DatasetCard(
        id="folder",
        loader="own:load_folder",
        title="Your own data (my folder)",
        source="A folder of the user",
        licence="The user's own",
        augmentation=True,
        where="A folder, or a zip of it, with images in train/CLASS/ and test/CLASS/, in CLASS/ "
        "alone, or in a labels.csv; images of other sizes with ,size=64 behind the path. On the "
        "command line it is folder:PATH. Forms and examples: docs/your-data.md.",
        takes_path=True,
    ),
)

MODELS: tuple[ModelCard, ...] = (
    ModelCard(
        id="resnet9-small",
        title="ResNet-9, small",
        source="After the nine-layer ResNet of David Page (How to Train Your ResNet, 2018), "
        "narrowed for a CPU",
        parameters_note="0.41 M parameters",
        macs=6_190,
    ),
    ModelCard(
        id="resnet18",
        title="ResNet-18",
        source="He et al., Deep Residual Learning, CVPR 2016; CIFAR stem below 64 pixels",
        parameters_note="11.2 M parameters",
        macs=542_400,
    ),
    ModelCard(
        id="resnet18-0.4",
        title="ResNet-18, 40 % width",
        source="Golatkar et al., Eternal Sunshine of the Spotless Net, CVPR 2020, and their code; "
        "MUBox takes it for Fisher forgetting, NTK scrubbing and L-CODEC. Pre-activation blocks; "
        "CIFAR stem below 64 pixels",
        parameters_note="1.8 M parameters",
        macs=96_970,
    ),
    ModelCard(
        id="resnet50",
        title="ResNet-50",
        source="He et al., Deep Residual Learning, CVPR 2016; CIFAR stem below 64 pixels",
        parameters_note="23.5 M parameters",
        macs=1_267_410,
    ),
    ModelCard(
        id="allcnn",
        title="All-CNN",
        source="Springenberg et al., Striving for Simplicity, ICLR workshop 2015, All-CNN-C; with "
        "batch norm and a linear layer behind the mean over positions (Golatkar et al., 2020), "
        "without dropout",
        parameters_note="1.4 M parameters",
        macs=274_470,
    ),
    ModelCard(
        id="vgg11-bn",
        title="VGG-11 with batch norm",
        source="Simonyan and Zisserman, ICLR 2015; one linear layer on the mean over positions in "
        "place of three, without dropout",
        parameters_note="9.2 M parameters",
        macs=149_190,
    ),
    ModelCard(
        id="vgg16-bn",
        title="VGG-16 with batch norm",
        source="Simonyan and Zisserman, ICLR 2015; one linear layer on the mean over positions in "
        "place of three, without dropout",
        parameters_note="14.7 M parameters",
        macs=305_860,
    ),
    ModelCard(
        id="mobilenet-v2",
        title="MobileNetV2",
        source="Sandler et al., CVPR 2018; below 64 pixels the first two halvings of the image "
        "are left out",
        parameters_note="2.2 M parameters",
        macs=85_910,
    ),
    ModelCard(
        id="mobilevit-s",
        title="MobileViT-S",
        source="Mehta and Rastegari, ICLR 2022; below 64 pixels the first two halvings of the "
        "image are left out",
        parameters_note="4.9 M parameters",
        macs=420_440,
    ),
    ModelCard(
        id="vit-tiny",
        title="ViT-Ti",
        source="Dosovitskiy et al., ICLR 2021, and Touvron et al. (DeiT), ICML 2021; patches of "
        "16 pixels from 128 pixels on, 8 from 64, 4 from 16, else 2",
        parameters_note="5.4 M parameters",
        macs=337_540,
    ),
    ModelCard(
        id="vit-b-16",
        title="ViT-B/16",
        source="Dosovitskiy et al., ICLR 2021; patches of 16 pixels from 128 pixels on, 8 from "
        "64, 4 from 16, else 2",
        parameters_note="85.2 M parameters",
        macs=5_393_670,
    ),
    ModelCard(
        id="swin-t",
        title="Swin-T",
        source="Liu et al., ICCV 2021; patches of 2 pixels below 64 pixels, windows of 4 by 4 "
        "patches below 128",
        parameters_note="27.5 M parameters",
        macs=345_900,
    ),
    ModelCard(
        id="convnext-t",
        title="ConvNeXt-T",
        source="Liu et al., CVPR 2022; a stem of 2 pixels below 64 pixels, of 1 below 16",
        parameters_note="27.8 M parameters",
        macs=354_270,
    ),
    ModelCard(
        id="mlp",
        title="MLP 512-256-128",
        source="Becker and Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022",
        parameters_note="0.57 M parameters on 28 by 28 grey pixels",
        macs=1_700,
        min_image_size=1,
    ),
    ModelCard(
        id="mlp-2d",
        title="MLP 64-64",
        source="This project, for points in the plane: small enough to train while one watches",
        parameters_note="4,482 parameters on points of two classes",
        macs=196.6,
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
        meaning="15 epochs with a one-cycle rate. On two CPU cores the small ResNet-9 fits 10,000 "
        "images of Fashion-MNIST in a little over half a minute.",
        source="MUBox's optimiser with a one-cycle rate; batch and rate chosen by us, so that 15 "
        "epochs reach 100 % on the training images",
        recipe=_STANDARD,
    ),
    PresetCard(
        id="quick",
        title="Quick",
        meaning="The standard recipe cut to 5 epochs, for trying things out; the models are not "
        "fully trained.",
        source="As standard",
        recipe={**_STANDARD, "epochs": 5},
    ),
    PresetCard(
        id="points",
        title="Points",
        meaning="60 epochs on points in the plane, about a second on one CPU core: long enough "
        "that the small network learns its outliers by heart.",
        source="As standard, with more epochs of smaller batches; rate and length chosen by us",
        recipe={**_STANDARD, "epochs": 60, "batch_size": 32, "lr": 0.1},
        dataset="points-moons",
        model="mlp-2d",
        scenarios={"one_class": {}, "class_wise": {}},
    ),
    *PAPERS,
    PresetCard(
        id="truly-forgetting-glyphs",
        title="Are We Truly Forgetting?, small",
        meaning="The paper's question on a CPU, with the standard recipe: classes of drawn glyphs "
        "are forgotten at random, or by three downstream sets.",
        source="This project, after Kim, Cha and Kim, Are We Truly Forgetting?, Engineering "
        "Applications of AI",
        recipe=_STANDARD,
        open_points="12 of 120 classes are a tenth, as the paper's 100 of 1,000.",
        dataset="glyphs",
        model="resnet9-small",
        scenarios={"random_classes": {"n": 12}, "top_classes": {"n": 12}},
    ),
)
