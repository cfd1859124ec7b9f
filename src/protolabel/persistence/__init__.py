"""Safe model files and export to ONNX."""

from protolabel.persistence.model_files import load_model, save_model

__all__ = ["load_model", "save_model"]
